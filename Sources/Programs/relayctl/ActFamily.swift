import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import SystemClock
import TextTable

struct SetPasscode: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "passcode",
    abstract: "Set the family's passcode, with which guardians decide on a child's device.",
    discussion: "In a terminal, the passcode is typed twice and not shown. Otherwise, the command "
      + "reads one line of standard input.")
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    // Connect first, so that an unusable credential is reported before anything is typed.
    let before = FamilyView(try relay.machine()).link.passcode
    do { try relay.setPasscode(try PasscodeEntry.read()) } catch let problem as Problem
      where problem == .badText
    {
      let length = Limits.passcodeLength
      throw ControlError(
        problem,
        "A passcode has \(length.lowerBound) to \(length.upperBound) characters. "
          + "Nothing was changed.")
    }
    print("The family's passcode is \(before == nil ? "set" : "changed").")
  }
}

struct AddChild: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create an account for a child, with communication limits on.")
  @Argument(help: "The child's name.") var name: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    try Self.validate(name: name)
    var relay = try guardian.connect()
    let before = FamilyView(try relay.machine()).roster
    guard !before.persons.contains(where: { $0.displayName.lowercased() == name.lowercased() })
    else {
      throw ControlError(
        "The family already has a member named '\(name)'. Choose another name.".printable)
    }
    try relay.send(.addChild(displayName: name))
    let child = FamilyView(try relay.machine()).roster.children.last { $0.displayName == name }
    guard let child else { throw Problem.unknown }
    let quoted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
    print(
      """
      \(name.printable) is now in the family, with communication limits on.
      Next: relayctl onboard '\(name.printable)' --as \(guardian.file)
      To keep the child when `relayctl apply --prune` runs, add this member to the family file:
        {id: \(child.id.rawValue), name: \(quoted.printable), role: child}
      """)
  }
}

extension ExplainedCommand {
  /// Checks the length of a new member's name.
  ///
  /// - Throws: `ControlError` with the limit.
  static func validate(name: String) throws {
    guard 1...Limits.titleBytes ~= name.utf8.count else {
      throw ControlError(
        .badText, "A name has 1 to \(Limits.titleBytes) bytes, not \(name.utf8.count).")
    }
  }
}

struct SetBirthdate: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "birthdate", abstract: "Set or correct a child's birthdate.")
  @OptionGroup var child: ChildOption
  @Argument(help: "The birthdate, for example 2014-05-17.") var day: String
  @Option(help: "The legal region, for example FR or US-TX (default: unchanged).")
  var region: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    _ = try Onboard.day(day)
    if let region, !Account.isRegion(region) {
      throw ValidationError("'\(region)' is not a region. Write one such as FR or US-TX.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let account = Account(
      birthdate: Account.Day(iso: day),
      region: region ?? view.link.accounts[child.id]?.region ?? "US",
      declaration: .guardianDeclared,
      timeZone: view.link.accounts[child.id]?.timeZone ?? "")
    try relay.send(.setAccount(child.id, .account(account)))
    print(
      "\(child.displayName)'s birthdate is \(account.birthdate!.iso), in region \(account.region)."
        .printable)
  }
}
