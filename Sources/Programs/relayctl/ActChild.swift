import ArgumentParser
import FamilyCore
import FamilyModel
import TextTable

struct SetLimits: ExplainedCommand {
  enum Setting: String, ExpressibleByArgument, CaseIterable { case on, off }

  static let configuration = CommandConfiguration(
    commandName: "limits", abstract: "Turn a child's communication limits on or off.")
  @OptionGroup var child: ChildOption
  @Argument var setting: Setting
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let isDone = view.conversation(child).limitsOn == (setting == .on)
    if !isDone { try relay.send(.setLimits(child: child.id, on: setting == .on)) }
    print(
      "\(child.displayName)'s communication limits are \(setting)\(isDone ? " already" : "")."
        .printable)
  }
}

struct ChangeContact: ExplainedCommand {
  enum Change: String, ExpressibleByArgument, CaseIterable { case add, remove }

  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Put somebody on a child's list of contacts, or off it.")
  @Argument var change: Change
  @OptionGroup var child: ChildOption
  @Option(help: "phone, email or custom.") var kind: KindArgument
  @Argument(help: "The number, address or user name.") var value: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    let handle = Handle(value, kind.kind)
    try handle.validate()
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let reasons = view.reasons(handle, child)
    let isContact = reasons.contains(.contact)
    let list = "\(child.displayName)'s list of contacts"
    if change == .remove, !isContact {
      throw ControlError(
        "\(value) is not on \(list). "
          .appending(
            reasons.isEmpty
              ? view.whoIsKnown(child)
              : "A guardian approved it: `relayctl withdraw` takes that back."
          ).printable)
    }
    if isContact != (change == .add) {
      try relay.send(.changeContact(child: child.id, .contact(handle, known: change == .add)))
    }
    let done = change == .add ? (isContact ? "is already on" : "is now on") : "is no more on"
    let rest =
      change == .remove && reasons.count > 1
      ? " A guardian approved it as well, so it stays known: see `relayctl withdraw`." : ""
    print("\(value) \(done) \(list).\(rest)".printable)
  }
}

struct Withdraw: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take an approval back: a handle is forgotten, or an app may not be used any more.")
  @OptionGroup var child: ChildOption
  @Option(help: "With a handle: phone, email or custom.") var kind: KindArgument?
  @Argument(help: "The number, address or user name.") var value: String?
  @Option(help: "Only in this app; for user names, which each app has its own of.") var app: String?
  @Option(help: "The app whose use is not consented to any more.") var consent: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    guard (kind == nil) == (value == nil), (kind == nil) != (consent == nil) else {
      throw ValidationError("Give either --kind and a handle, or --consent and an app.")
    }
    if app != nil, kind != .custom {
      throw ValidationError("--app goes with --kind custom: all else is known in every app.")
    }
    for name in [app, consent].compactMap({ $0 })
    where !(1...Limits.identifierBytes ~= name.utf8.count) {
      throw ValidationError("An app's identifier has 1 to \(Limits.identifierBytes) bytes.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let app = app.map { AppID($0) }
    guard let value, let kind else {
      try relay.send(.withdraw(child: child.id, .withdrawal(.consent(AppID(consent!)))))
      return print(
        "Withdrawn: \(child.displayName) may not go on using \(consent!).".printable)
    }
    let handle = Handle(value, kind.kind)
    try handle.validate()
    let place = app.map { " in \($0.rawValue)" } ?? ""
    let isKnown = view.reasons(handle, child).contains { reason in
      guard let app, case .approved(let other?) = reason else { return true }
      return app == other
    }
    guard isKnown else {
      throw ControlError(
        "\(value) is not known for \(child.displayName)\(place). \(view.whoIsKnown(child))"
          .printable)
    }
    try relay.send(.withdraw(child: child.id, .withdrawal(.handle(handle, in: app))))
    print("Withdrawn: \(value) is not known for \(child.displayName)\(place) any more.".printable)
  }
}

extension FamilyView {
  /// For which reasons the handle is known.
  fileprivate func reasons(_ handle: Handle, _ child: Person) -> [KnownHandles.Reason] {
    conversation(child).known.reasons.filter { $0.handle == handle.canonical }.map(\.reason)
  }

  /// Who is known for the child, as an advice.
  fileprivate func whoIsKnown(_ child: Person) -> String {
    var known: [String] = []
    for (handle, _) in conversation(child).known.reasons where known.last != handle.value {
      known.append(handle.value)
    }
    return known.isEmpty ? "Nobody is known yet." : "Known are: \(known.joined(separator: ", "))."
  }
}
