import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import SystemClock
import TextTable

struct SetPasscode: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "passcode",
    abstract: "Set the family's passcode, which approves in person on a child's device.",
    discussion: "It is typed twice and not shown; without a terminal, it is a line of the input.")
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    // What cannot be used is said before anybody types.
    let before = FamilyView(try relay.machine()).link.passcode
    let passcode = try PasscodeCipher.make(try PasscodeEntry.read())
    try relay.send(.setPasscode(passcode))
    print("The family's passcode is \(before == nil ? "set" : "changed").")
  }
}

struct AddChild: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make an account for a child, with communication limits on.")
  @Argument(help: "The child's name.") var name: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    guard 1...Limits.titleBytes ~= name.utf8.count else { throw Problem.badText }
    var relay = try guardian.connect()
    let before = FamilyView(try relay.machine()).roster
    guard !before.persons.contains(where: { $0.displayName == name }) else {
      throw ControlError(
        "There is a \(name) in the family already: two members of one name cannot be told apart."
          .printable)
    }
    try relay.send(.addChild(displayName: name))
    let child = FamilyView(try relay.machine()).roster.children.last { $0.displayName == name }
    guard let child else { throw Problem.unknown }
    let quoted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
    print(
      """
      \(name.printable) is a child of the family now, with communication limits on. Next: relayctl invite
      Who is not in the operator's file of families goes when it is applied again; there this is
        {id: \(child.id.rawValue), name: \(quoted.printable), role: child}
      """)
  }
}

struct SetBirthdate: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "birthdate", abstract: "Set or correct a child's birthdate.")
  @OptionGroup var child: ChildOption
  @Argument(help: "The day, for example 2014-05-17.") var day: String
  @Option(help: "For example FR or US-TX; unless given, it stays as it is.")
  var region: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    guard let day = Account.Day(day) else {
      throw ValidationError("A birthdate is a day, written 2014-05-17.")
    }
    guard day.text <= String(Instant.now.local.prefix(10)) else {
      throw ValidationError("\(day.text) is in the future.")
    }
    if let region, !Account.isRegion(region) {
      throw ValidationError("A region is written FR or US-TX.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let account = Account(
      birthdate: Account.Day(day),
      region: region ?? view.link.accounts[child.id]?.region ?? "US",
      declaration: .guardianDeclared,
      timeZone: view.link.accounts[child.id]?.timeZone ?? "")
    try relay.send(.setAccount(child.id, .account(account)))
    print(
      "\(child.displayName)'s birthdate is \(account.birthdate!.text), region \(account.region)."
        .printable)
  }
}
