public import Credentials
import FamilyModel
import FamilyTrust
import ZeroMQ

/// A device that joins a family: it makes its own keys, proves that it has the code, and waits until a
/// guardian's device has signed that it is in the family.
public struct Joining: ~Copyable {
  private let code: JoinCode
  private let keys: CurveKeyPair
  private let deviceKeys: DeviceKeys
  private var client: RequestClient

  /// Makes the keys, and connects to the relay of the code.
  public init(_ code: JoinCode) throws {
    let keys = try CurveKeyPair.generate()
    let client = try RequestClient(keys, relay: code.relayKey, at: code.requests)
    self.code = code
    self.keys = keys
    self.client = consume client
    deviceKeys = DeviceKeys()
  }

  /// Asks to join, or whether it has come to pass: the device's credential, or `nil` as long as no guardian
  /// has signed.
  ///
  /// - Throws: `notEnrolled` for a code that is wrong, used or expired; `notSigned` where the relay speaks of
  ///   a family in which this device, by what the organizer's key vouches for, is not.
  public mutating func credential() throws -> Credential? {
    let join = code.ticket.join(code.family, publicKey: keys.publicKey.bytes, keys: deviceKeys)
    let device = try client.join(join, in: code.family)
    guard device.rawValue != 0 else { return nil }
    let events = try client.history(
      of: .family, from: DeviceAddress(family: code.family, device: device))
    // Who the person is comes from the roster, which is believed only with the organizer's signature.
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
