public import Credentials
public import FamilyCore
public import FamilyModel
import SystemClock

/// A visit to the relay under a device's credential, beside the device itself: it reads what the device
/// may read, and sends single commands.
///
/// It does not attach and acknowledges nothing, so the device's own position, and what the children
/// see as delivered and read, stay as they are.
public struct DeviceClient: ~Copyable {
  /// Whose device it is.
  public let credential: Credential
  private var client: RequestClient
  private var last: GuardianMachine?

  /// Connects to the relay, which must run by the first request.
  public init(_ credential: Credential) throws {
    self.credential = credential
    client = try RequestClient(
      credential.keys, relay: credential.relayKey, at: credential.requests)
  }

  /// Seals and signs the command, sends it, and waits for its acceptance; it is sent again under one id
  /// until it is answered.
  ///
  /// - Returns: the command's id, and the place of its event.
  /// - Throws: the `Problem` for which it is refused; `RelayUnreachable` when nobody answers.
  @discardableResult
  public mutating func send(_ command: Command) throws -> (id: CommandID, seq: UInt64) {
    var machine = try last ?? machine()
    let prepared = try machine.prepare(command, now: .now)
    last = machine
    return try client.send(prepared, from: credential.address)
  }

  /// The last event of each audience that the person may see, ascending by audience.
  ///
  /// - Throws: as ``machine()``.
  public mutating func heads() throws -> [Cursor] {
    try events().reduce(into: [Audience: UInt64]()) { $0[$1.audience] = $1.seq }
      .map { Cursor($0, delivered: $1) }.sorted { $0.audience < $1.audience }
  }

  /// The family alone, up to now: who is in it, and who wants to join.
  ///
  /// - Throws: the `Problem` for which the relay refuses; `RelayUnreachable` when nobody answers.
  public mutating func family() throws -> GuardianMachine {
    let machine = credential.machine(
      restoring: try client.history(of: .family, from: credential.address))
    last = machine
    return machine
  }

  /// A guardian's machine as it is on a device that has read everything, up to now.
  ///
  /// - Throws: the `Problem` for which the relay refuses; `RelayUnreachable` when nobody answers.
  public mutating func machine() throws -> GuardianMachine {
    let machine = credential.machine(restoring: try events())
    last = machine
    return machine
  }

  /// Everything that the person may see, in order within each audience.
  private mutating func events() throws -> [Event] {
    var events = try client.history(of: .family, from: credential.address)
    let roster = credential.machine(restoring: events).link.roster
    guard let person = roster.person(credential.personID) else { throw Problem.notEnrolled }
    for audience in roster.audiences(of: person) where audience != .family {
      events += try client.history(of: audience, from: credential.address)
    }
    return events
  }
}
