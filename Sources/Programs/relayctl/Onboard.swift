import ArgumentParser
import Credentials
import FamilyCore
import FamilyModel
import Foundation
import RelayClient
import SystemClock

struct Onboard: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Set up a child's account step by step: birthdate, age sharing, device.",
    discussion: """
      Creates the account, then asks for each step that is not done and has no option. An empty \
      line leaves the set-up; the same command continues it later. Without a terminal, steps \
      without an option are left.
      """)
  @Argument(help: "The child's name.") var name: String
  @Option(help: "The birthdate, for example 2014-05-17.") var birthdate: String?
  @Option(help: "The legal region, for example FR or US-TX (default: that of the guardian, or US).")
  var region: String?
  @Option(help: "Whether apps receive the age range: always, ask or never.")
  var sharing: SetAgeSharing.Setting?
  @Flag(inversion: .prefixedNo, help: "Whether to invite the child's device (default: asked).")
  var invite: Bool?
  @OptionGroup var guardian: GuardianOptions

  private static let explanation = """
    An app can ask for an age range, such as 13 to 15, and never learns the birthdate. You decide \
    whether the range is shared, and can change that at any time: `relayctl age-sharing`.
    """

  func validate() throws {
    if let birthdate { _ = try Self.day(birthdate) }
    if let region, !Account.isRegion(region) {
      throw ValidationError("'\(region)' is not a region. Write one such as FR or US-TX.")
    }
  }

  /// A birthdate that is typed or given as an option.
  static func day(_ text: String) throws -> Account.Day {
    guard let day = Account.Day(iso: text) else {
      throw ValidationError("'\(text)' is not a day. Write a birthdate such as 2014-05-17.")
    }
    do throws(Problem) { try day.validate(asBirthdateAt: .now) } catch {
      throw ValidationError("The birthdate '\(text)' is in the future.")
    }
    return day
  }

  func perform() throws {
    try Self.validate(name: name)
    var relay = try guardian.connect()
    var view = FamilyView(try relay.machine())
    if try view.childToSetUp(name) == nil {
      try relay.send(.addChild(displayName: name))
      view = FamilyView(try relay.machine())
      print("\(name) is now in the family, with communication limits on.".printable)
    }
    guard let child = try view.childToSetUp(name) else { throw Problem.unknown }
    var left = view.link.onboarding(of: child.id)
    if left.contains(.sharing) { print(Self.explanation) }
    // An option also changes a step that is done.
    for step in OnboardingStep.allCases where left.contains(step) || isGiven(step) {
      let isDone = try perform(step, of: child, view, &relay)
      guard isDone || Guide.isAvailable == false else { break }
      if isDone { left.removeAll { $0 == step } }
    }
    guard !left.isEmpty else {
      return print("\(name)'s account is set up.".printable)
    }
    let steps = left.map(\.noun).joined(separator: ", ")
    print(
      "Not done yet: \(steps). Next: relayctl onboard '\(name)' --as \(guardian.file)".printable)
  }

  private func isGiven(_ step: OnboardingStep) -> Bool {
    switch step {
    case .birthdate: birthdate != nil
    case .sharing: sharing != nil
    case .device: invite ?? false
    }
  }

  /// Performs one step with its option, or with the guardian's typed answer.
  ///
  /// - Returns: `false` if the guardian left the step.
  private func perform(
    _ step: OnboardingStep, of child: Person, _ view: FamilyView, _ relay: inout DeviceClient
  ) throws -> Bool {
    switch step {
    case .birthdate:
      guard let day = try birthdate.map(Self.day) ?? Guide.birthdate(of: name) else { return false }
      let own = view.link.accounts[view.link.personID]
      let account = Account(
        birthdate: day, region: region ?? own?.region ?? "US", declaration: .guardianDeclared)
      try relay.send(.setAccount(child.id, .account(account)))
    case .sharing:
      guard let setting = sharing ?? Guide.sharing(of: name) else { return false }
      var settings = view.link.age(of: child.id).settings
      settings.sharing = setting.sharing
      try relay.send(.setAge(child.id, .ageSettings(settings), proof: []))
    case .device:
      guard invite ?? Guide.invites(name) else { return false }
      try Invite.invite(child, minutes: 15, &relay)
    }
    return true
  }
}

/// The questions of a guided command at a terminal. An empty line leaves the set-up.
private enum Guide {
  static var isAvailable: Bool { isatty(STDIN_FILENO) == 1 }

  private static func ask(_ question: String) -> String? {
    guard isAvailable else { return nil }
    FileHandle.standardOutput.write(Data((question.printable + " ").utf8))
    let line = readLine()?.trimmingCharacters(in: .whitespaces)
    return line?.isEmpty ?? true ? nil : line
  }

  static func birthdate(of name: String) -> Account.Day? {
    while let text = ask("When was \(name) born (such as 2014-05-17)?") {
      do {
        let day = try Onboard.day(text)
        guard let answer = ask("\(name) was born on \(day.iso). Is that right (yes or no)?") else {
          return nil
        }
        if answer.lowercased().hasPrefix("y") { return day }
      } catch { print("\(error)".printable) }
    }
    return nil
  }

  static func sharing(of name: String) -> SetAgeSharing.Setting? {
    while let text = ask("May apps receive \(name)'s age range (always, ask or never)?") {
      if let setting = SetAgeSharing.Setting(rawValue: text.lowercased()) { return setting }
      print("'\(text)' is not a choice.".printable)
    }
    return nil
  }

  static func invites(_ name: String) -> Bool {
    ask("Invite \(name)'s device now (yes or no)?")?.lowercased().hasPrefix("y") ?? false
  }
}

extension FamilyView {
  /// The child with this name; `nil` if no member has it.
  ///
  /// - Throws: `ControlError` if another member has the name.
  fileprivate func childToSetUp(_ name: String) throws -> Person? {
    let found = roster.persons.first { $0.displayName.lowercased() == name.lowercased() }
    guard let found, found.role != .child else { return found }
    throw ControlError(
      .conflict, "\(found.displayName) is in the family, with the role \(found.role).")
  }
}

extension OnboardingStep {
  fileprivate var noun: String {
    switch self {
    case .birthdate: "the birthdate"
    case .sharing: "age sharing"
    case .device: "a device"
    }
  }
}
