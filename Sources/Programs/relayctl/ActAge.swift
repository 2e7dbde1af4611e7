import ArgumentParser
import Credentials
import FamilyCore
import FamilyModel
import SystemClock
import TextTable

struct SetAgeSharing: ExplainedCommand {
  enum Setting: String, ExpressibleByArgument, CaseIterable {
    case always, ask, never

    var sharing: AgeSharing {
      switch self {
      case .always: .always
      case .ask: .askFirst
      case .never: .never
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "age-sharing", abstract: "Choose whether apps receive a child's age range.")
  @OptionGroup var child: ChildOption
  @Argument(help: "Share always, after asking the child, or never.") var setting: Setting
  @Option(help: "Change the setting for this app only.") var app: String?
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    let child = try guardian.changeAge(of: child) {
      if let app { $0.apps[AppID(app)] = setting.sharing } else { $0.sharing = setting.sharing }
    }
    let apps = app ?? "apps without a setting of their own"
    print("\(child.displayName)'s age sharing is '\(setting)' for \(apps).".printable)
  }
}

struct SetCeiling: ExplainedCommand {
  enum Rating: String, ExpressibleByArgument, CaseIterable {
    case four = "4"
    case nine = "9"
    case thirteen = "13"
    case sixteen = "16"
    case eighteen = "18"
    case off

    var rating: AgeRating? { UInt8(rawValue).flatMap(AgeRating.init) }
  }

  static let configuration = CommandConfiguration(
    commandName: "ceiling", abstract: "Set the highest age rating of the apps a child may use.")
  @OptionGroup var child: ChildOption
  @Argument(help: "The highest age rating, or off.") var rating: Rating
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    let child = try guardian.changeAge(of: child) { $0.ceiling = rating.rating }
    let apps = rating == .off ? "all apps" : "apps rated up to \(rating.rawValue)+"
    print("\(child.displayName) may use \(apps).".printable)
  }
}

struct ForgetAge: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Clear an app's age answers, so that its next request gets a child's current range.")
  @OptionGroup var child: ChildOption
  @Argument(help: "The app's identifier.") var app: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let apps = view.link.age(of: child.id).apps
    guard apps.contains(AppID(app)) else {
      throw ControlError(
        "'\(app)' has no answers about \(child.displayName)'s age. `relayctl ages` lists answers."
          .printable)
    }
    try relay.send(.setAge(child.id, .ageMemory(AppID(app), nil), proof: []))
    print("The next request of \(app) gets \(child.displayName)'s current range.".printable)
  }
}

struct Ages: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the age answers about the children that apps received.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @OptionGroup var options: RegionOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    let table = try options.table()
    var listing = Listing(
      ofChildren: [
        .init("app"), .init("gates"), .init("answer", "told"), .init("declaration"), .init("day"),
        .init("can change", "canChange"), .init("rule"),
      ])
    for child in try view.children(child.name) {
      let age = view.link.age(of: child.id)
      let policy = AgePolicy(
        of: child.id, in: view.link, regions: table, calendar: Account.Day.init(_:in:), now: .now)
      for app in age.apps {
        let memory = age.memory(app)
        for answer in memory.answers {
          let gates = answer.gates.map { Cell.number(UInt64(max(0, $0))) }
          let why = policy?.explain(answer.gates, of: app, memory)
          listing.add(
            child, view.cell(app), .list(gates), .text(answer.range.map(\.text) ?? "declined"),
            answer.range?.declaration.map { .text("\($0)") } ?? .none, .text(answer.day.iso),
            why?.changesOn.map { .text($0.iso) } ?? .none,
            why.map { .text($0.rule.rawValue) } ?? .none)
        }
      }
    }
    output.show(listing, empty: "No app has received an age answer yet.")
  }
}

extension AgeRange {
  /// The ages as a person reads them: `13 to 15`, `up to 12`, `16 or older`, `any age`.
  var text: String {
    switch (lower, upper) {
    case (let lower?, let upper?): "\(lower) to \(upper)"
    case (nil, let upper?): "up to \(upper)"
    case (let lower?, nil): "\(lower) or older"
    case (nil, nil): "any age"
    }
  }
}

extension GuardianOptions {
  fileprivate func changeAge(of child: ChildOption, _ change: (inout AgeSettings) -> Void) throws
    -> Person
  {
    var relay = try connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    var settings = view.link.age(of: child.id).settings
    let before = settings
    change(&settings)
    try settings.validate()
    if settings != before {
      try relay.send(.setAge(child.id, .ageSettings(settings), proof: []))
    }
    return child
  }
}
