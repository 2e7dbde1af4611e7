public import Credentials
import FamilyModel
import FamilyTrust
import ZeroMQ

/// A new device that joins a family with a code.
///
/// The device makes its own keys and proves that it has the code. A guardian's device must then
/// sign a roster with the new device.
public struct Joining: ~Copyable {
  private let code: JoinCode
  private let keys: CurveKeyPair
  private let deviceKeys: DeviceKeys
  private var client: RequestClient

  /// Makes the device's keys and connects to the code's relay. The keys end with the process.
  public init(_ code: JoinCode) throws { try self.init(PendingJoin(code)) }

  /// Connects to the code's relay with the keys of a pending join. Precondition: the pending join is
  /// durable, unless its keys may end with the process.
  public init(_ pending: PendingJoin) throws {
    let client = try RequestClient(
      pending.keys, relay: pending.code.relayKey, at: pending.code.requests)
    code = pending.code
    keys = pending.keys
    deviceKeys = pending.deviceKeys
    self.client = consume client
  }

  /// Sends the join request and reads the result. Call repeatedly until the result is not `nil`.
  ///
  /// - Returns: The device's credential; `nil` until a guardian has signed a roster with the
  ///   device.
  /// - Throws: `notEnrolled` if the code is wrong, used or expired. `notSigned` if no roster that
  ///   the organizer's key vouches for lists this device.
  public mutating func credential() throws -> Credential? {
    let join = code.ticket.join(code.family, publicKey: keys.publicKey.bytes, keys: deviceKeys)
    let device = try client.join(join, in: code.family)
    guard device.rawValue != 0 else { return nil }
    let events = try client.history(
      of: .family, from: DeviceAddress(family: code.family, device: device))
    // The owner comes from the verified roster, because the relay's reply proves nothing.
    let roster = credential(device, PersonID(0), .adult, "").machine(restoring: events).link.roster
    guard let own = roster.device(device), own.publicKey == keys.publicKey.bytes,
      own.signingKey == deviceKeys.signingKey, own.agreementKey == deviceKeys.agreementKey,
      let person = roster.person(own.person)
    else { throw Problem.notSigned }
    return credential(device, person.id, person.role, person.displayName)
  }

  private func credential(
    _ device: DeviceID, _ person: PersonID, _ role: Role, _ name: String
  ) -> Credential {
    Credential(
      address: DeviceAddress(family: code.family, device: device), personID: person, role: role,
      name: name, keys: keys, deviceKeys: deviceKeys, organizerKey: code.organizerKey,
      relayKey: code.relayKey, requests: code.requests, broadcasts: code.broadcasts)
  }
}
