public import FamilyCore
public import FamilyModel

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
  /// - Throws: the `Problem` for which it is refused; `RelayUnreachable` when nobody answers.
  public mutating func send(_ command: Command) throws {
    var machine = try last ?? machine()
    let prepared = try machine.prepare(command, now: .now)
    last = machine
    try client.send(prepared, from: credential.address)
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
    var events = try client.history(of: .family, from: credential.address)
    let roster = credential.machine(restoring: events).link.roster
    guard let person = roster.person(credential.personID) else { throw Problem.notEnrolled }
    for audience in roster.audiences(of: person) where audience != .family {
      events += try client.history(of: audience, from: credential.address)
    }
    let machine = credential.machine(restoring: events)
    last = machine
    return machine
  }
}
