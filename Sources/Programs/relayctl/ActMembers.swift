import ArgumentParser
import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import QRCode
import RelayClient
import SystemClock

struct Household: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "family", abstract: "Show who is in the family, and with which devices.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    var relay = try guardian.connect()
    let roster = try relay.family().link.roster
    var listing = Listing(columns: [
      .init("member"), .init(nil, "person"), .init("role"), .init("device"),
    ])
    for person in roster.persons {
      let devices = roster.devices.filter { $0.person == person.id }
      for device in devices.isEmpty ? [nil] : devices.map(Optional.some) {
        listing.rows.append([
          .text(person.displayName), .number(UInt64(person.id.rawValue)), .text("\(person.role)"),
          device.map { .number(UInt64($0.id.rawValue)) } ?? .none,
        ])
      }
    }
    output.show(listing, empty: "Nobody is in the family.")
  }
}

struct Invite: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let a member's new device join: shows a code, and waits for the device.",
    discussion: "The code is for one device, once. It is shown here and kept nowhere.")
  @Argument(help: "The member's name or number.") var member: String
  @Option(help: "Minutes until the code expires.") var minutes = 15
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    guard 1...Int(Limits.invitationTime / 60_000) ~= minutes else {
      throw ValidationError("A code lives for 1 to \(Limits.invitationTime / 60_000) minutes.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let person = try relay.family().link.roster.member(member)
    let ticket = JoinTicket()
    let expires = Instant.now + Int64(minutes) * 60_000
    try relay.send(.invite(ticket.invitation(for: person.id, until: expires)))
    show(JoinCode(ticket, from: relay.credential), for: person)
    while Instant.now < expires {
      let link = try relay.family().link
      if let join = link.joins.first(where: { $0.invitation == ticket.publicKey }) {
        let roster = link.roster(adding: join, of: person.id)
        do { try relay.send(.setRoster(roster)) } catch let problem as Problem
          where problem == .stale
        { continue }
        print(
          "\(person.displayName) has a new device: \(roster.devices.last!.id.rawValue).".printable)
        return
      }
      usleep(500_000)
    }
    throw ControlError("No device joined in \(minutes) minutes. The code is not valid any more.")
  }

  private func show(_ code: JoinCode, for person: Person) {
    var lines: [String] = []
    if isatty(STDOUT_FILENO) == 1, let picture = QRCode(code.text) {
      // Black on white, whatever the terminal's colours are.
      lines = picture.rows.map { "\u{1B}[30;107m\($0)\u{1B}[0m" }
    }
    let agent = person.role.isGuardian ? "parent-agent" : "child-agent"
    lines.append(code.text)
    lines.append("On the new device: \(agent) join --credential FILE, and this code. Waiting …")
    // At once, also into a pipe.
    FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
  }
}

struct AddMember: ExplainedCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case guardian, adult
    var role: Role { self == .guardian ? .guardian : .adult }
  }

  static let configuration = CommandConfiguration(
    abstract: "Add a guardian or another adult; `relayctl invite` is for their devices.")
  @Argument(help: "guardian or adult; `add-child` is for children.") var kind: Kind
  @Argument(help: "The name.") var name: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    guard 1...Limits.titleBytes ~= name.utf8.count else { throw Problem.badText }
    var relay = try guardian.connect()
    let link = try relay.family().link
    guard !link.roster.persons.contains(where: { $0.displayName == name }) else {
      throw ControlError("There is a \(name) in the family already.".printable)
    }
    try relay.send(.setRoster(link.roster(adding: name, as: kind.role)))
    print("\(name) is in the family. Next: relayctl invite".printable)
  }
}

struct RemoveMember: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take a member out of the family, with all devices; at once.")
  @Argument(help: "The member's name or number.") var member: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let link = try relay.family().link
    let person = try link.roster.member(member)
    try relay.send(.setRoster(link.roster(removing: person.id)))
    print("\(person.displayName) is not in the family any more.".printable)
  }
}

struct RemoveDevice: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take a device out of the family: one that is lost hears and says nothing more.")
  @Argument(help: "The device's number, which `relayctl family` shows.") var device: UInt32
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let link = try relay.family().link
    let id = DeviceID(device)
    guard let owner = link.roster.owner(of: id) else {
      throw ControlError("There is no device \(device): `relayctl family` shows them.")
    }
    try relay.send(.setRoster(link.roster(removing: id)))
    print("\(owner.displayName)'s device \(device) is not in the family any more.".printable)
  }
}

extension Roster {
  /// The member of this name or number.
  fileprivate func member(_ text: String) throws -> Person {
    let found = persons.filter {
      $0.displayName.lowercased() == text.lowercased() || "\($0.id.rawValue)" == text
    }
    guard found.count == 1 else {
      throw ControlError(
        "Which member? `relayctl family` shows names and numbers; \(text) is \(found.count) of them."
          .printable)
    }
    return found[0]
  }
}
