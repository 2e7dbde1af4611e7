import ArgumentParser
import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import QRCode
import RelayClient
import SystemClock

struct ShowFamily: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "family", abstract: "List the family's members and their devices.")
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
    output.show(listing, empty: "The family has no members.")
  }
}

struct Invite: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Invite a member's new device: shows a code and waits for the device.",
    discussion: "The code admits one device, once. No file contains the code.")
  @Argument(help: "The member's name or number.") var member: String
  @Option(help: "Minutes until the code expires.") var minutes = 15
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    guard 1...Int(Limits.invitationTime / .minutes(1)) ~= minutes else {
      throw ValidationError(
        "--minutes takes 1 to \(Limits.invitationTime / .minutes(1)), not '\(minutes)'.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let person = try relay.family().link.roster.member(member)
    try Self.invite(person, minutes: minutes, &relay)
  }

  /// Shows a code for a device of the person, and waits until the device has joined.
  static func invite(_ person: Person, minutes: Int, _ relay: inout DeviceClient) throws {
    let ticket = JoinTicket()
    let expires = Instant.now + .minutes(minutes)
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
    throw ControlError(
      "No device joined within \(minutes) minutes, and the code has expired. Run `relayctl invite`"
        + " again.")
  }

  private static func show(_ code: JoinCode, for person: Person) {
    var lines: [String] = []
    if isatty(STDOUT_FILENO) == 1, let picture = QRCode(code.text) {
      // Set black on white: scanners need dark modules on light, whatever colours the terminal has.
      lines = picture.rows.map { "\u{1B}[30;107m\($0)\u{1B}[0m" }
    }
    let agent = person.role.isGuardian ? "parent-agent" : "child-agent"
    lines.append(code.text)
    lines.append(
      "On the new device, run `\(agent) join --credential FILE` and enter this code. Waiting …")
    // `print` would buffer the code in a pipe until the command ends.
    FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
  }
}

struct AddMember: ExplainedCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case guardian, adult
    var role: Role { self == .guardian ? .guardian : .adult }
  }

  static let configuration = CommandConfiguration(
    abstract: "Add a guardian or another adult. `relayctl invite` adds their devices.")
  @Argument(help: "The member's role. `relayctl add-child` adds children.") var kind: Kind
  @Argument(help: "The member's name.") var name: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    try Self.validate(name: name)
    var relay = try guardian.connect()
    let link = try relay.family().link
    let names = link.roster.persons.map { $0.displayName.lowercased() }
    guard !names.contains(name.lowercased()) else {
      throw ControlError(
        "The family already has a member named '\(name)'. Choose another name.".printable)
    }
    try relay.send(.setRoster(link.roster(adding: name, as: kind.role)))
    print("\(name) is now in the family. Next: relayctl invite".printable)
  }
}

struct RemoveMember: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove a member and all their devices from the family, at once.")
  @Argument(help: "The member's name or number.") var member: String
  @OptionGroup var removal: RemovalOptions
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    // The signature of a removal names the heads of all audiences.
    let link = try relay.machine().link
    let person = try link.roster.member(member)
    guard person.role != .organizer else {
      throw ControlError(
        .badFamily,
        "\(person.displayName) is the organizer, and a family has exactly one. Nothing was changed."
      )
    }
    try removal.confirm(
      isOwn: person.id == relay.credential.personID, "\(person.displayName) is the owner of --as")
    try relay.send(.setRoster(link.roster(removing: person.id)))
    print("\(person.displayName) is no longer in the family.".printable)
  }
}

struct RemoveDevice: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove a device from the family, so that it can no longer read or send anything.")
  @Argument(help: "The device's number, which `relayctl family` lists.") var device: UInt32
  @OptionGroup var removal: RemovalOptions
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    // The signature of a removal names the heads of all audiences.
    let link = try relay.machine().link
    let id = DeviceID(device)
    guard let owner = link.roster.owner(of: id) else {
      throw ControlError(
        "The family has no device \(device). `relayctl family` lists the devices.")
    }
    let next = link.roster(removing: id)
    // The device itself refuses as well; this error adds the name to invite.
    guard owner.role != .organizer || next.devices.contains(where: { $0.person == owner.id }) else {
      throw ControlError(
        .lastOrganizerDevice,
        "The organizer \(owner.displayName) has no device but \(device). Invite another one first: "
          + "relayctl invite '\(owner.displayName)'")
    }
    try removal.confirm(
      isOwn: id == relay.credential.address.device, "Device \(device) is the one of --as")
    try relay.send(.setRoster(next))
    print("\(owner.displayName)'s device \(device) is no longer in the family.".printable)
  }
}

/// The options of commands that remove from the family.
struct RemovalOptions: ParsableArguments {
  @Flag(help: "Also remove this credential's own device or person.") var yes = false

  /// Checks that the guardian means to remove themselves.
  ///
  /// - Throws: `ControlError` without `--yes`.
  func confirm(isOwn: Bool, _ fact: String) throws {
    guard isOwn, !yes else { return }
    throw ControlError(
      "\(fact). This credential can do nothing afterwards. To remove it anyway, add --yes."
        .printable)
  }
}

extension Roster {
  /// The member with this name or number.
  ///
  /// - Throws: `ControlError` unless exactly one member matches.
  fileprivate func member(_ text: String) throws -> Person {
    let found = persons.filter {
      $0.displayName.lowercased() == text.lowercased() || "\($0.id.rawValue)" == text
    }
    guard found.count == 1 else {
      throw ControlError(
        (found.isEmpty
          ? "The family has no member '\(text)'. `relayctl family` lists names and numbers."
          : "\(found.count) members match '\(text)'. Give a number that `relayctl family` lists.")
          .printable)
    }
    return found[0]
  }
}
