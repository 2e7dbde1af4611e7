public import FamilyCore
public import FamilyModel
public import FamilyTrust
public import Foundation
import SystemClock
public import ZeroMQ

/// A device's identity and keys with the relay's endpoints and key.
public struct Credential: Sendable {
  /// The device's address.
  public var address: DeviceAddress
  /// The device's owner.
  public var personID: PersonID
  /// The owner's role in the family.
  public var role: Role
  /// The owner's name, for the owner's own screen.
  public var name: String
  /// The device's CURVE keys, for its connections.
  public var keys: CurveKeyPair
  /// The device's Ed25519 and X25519 keys, for its signatures and sealed contents.
  public var deviceKeys: DeviceKeys
  /// The organizer's Ed25519 key, which signed the family's first roster. The device trusts every
  /// other key through this one. Empty if the owner is in no family group.
  public var organizerKey: [UInt8]
  /// The relay's CURVE key.
  public var relayKey: CurvePublicKey
  /// The relay's endpoint for requests.
  public var requests: String
  /// The relay's endpoint for broadcasts.
  public var broadcasts: String
  /// Whether the owner is in a family group. A device outside a family group uses no relay.
  public var isInFamily: Bool { address.family.rawValue != 0 }

  /// The keys with which the device verifies events and opens contents, for tools. A tool makes no
  /// snapshot.
  public var security: Security { Security(KeyVault(deviceKeys), organizerKey: organizerKey) }

  /// The keys of an agent's device, which makes snapshots, and shares a cache of verified signatures
  /// with other devices of the process.
  public func security(sharing verified: SignatureCache?) -> Security {
    Security(
      KeyVault(deviceKeys, sharing: verified), organizerKey: organizerKey,
      snapshots: deviceKeys.snapshots)
  }

  /// The device with its public keys, as rosters list it.
  public var device: Device {
    Device(
      id: address.device, person: personID, publicKey: keys.publicKey.bytes, keys: deviceKeys)
  }

  /// A machine that has applied the events, for tools that use the relay beside the device's own
  /// agent.
  public func machine(restoring events: [Event]) -> GuardianMachine {
    GuardianMachine(
      address, of: personID, security: security, restoring: events.map { .event($0) },
      ids: .system)
  }

  /// Creates a credential in memory. ``write(to:)`` stores it.
  public init(
    address: DeviceAddress, personID: PersonID, role: Role, name: String, keys: CurveKeyPair,
    deviceKeys: DeviceKeys, organizerKey: [UInt8], relayKey: CurvePublicKey, requests: String,
    broadcasts: String
  ) {
    self.address = address
    self.personID = personID
    self.role = role
    self.name = name
    self.keys = keys
    self.deviceKeys = deviceKeys
    self.organizerKey = organizerKey
    self.relayKey = relayKey
    self.requests = requests
    self.broadcasts = broadcasts
  }

  private struct File: Codable {
    var version = 2
    var family: UInt64
    var device: UInt32
    var person: UInt32
    var role: UInt8
    var name: String
    var publicKey: String
    var secretKey: String
    var signingSecret: Data
    var agreementSecret: Data
    var organizerKey: Data
    var relayKey: String
    var requests: String
    var broadcasts: String
  }

  /// Reads a credential file.
  ///
  /// - Throws: `PrivateFile.Failure` if the file is missing, invalid, or readable by others.
  public static func read(from file: URL) throws -> Credential {
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 2,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      keys.publicKey.z85 == content.publicKey, let relayKey = CurvePublicKey(z85: content.relayKey),
      let role = Role(rawValue: content.role),
      let deviceKeys = DeviceKeys(
        signingSecret: [UInt8](content.signingSecret),
        agreementSecret: [UInt8](content.agreementSecret))
    else {
      throw PrivateFile.Failure(
        description:
          "\(file.path) is not a credential file of this version. Run `relayctl apply` again.")
    }
    return Credential(
      address: DeviceAddress(
        family: FamilyID(content.family), device: DeviceID(content.device)),
      personID: PersonID(content.person), role: role, name: content.name, keys: keys,
      deviceKeys: deviceKeys, organizerKey: [UInt8](content.organizerKey), relayKey: relayKey,
      requests: content.requests, broadcasts: content.broadcasts)
  }

  /// Writes a credential file with mode 0600.
  public func write(to file: URL) throws {
    let content = File(
      family: address.family.rawValue, device: address.device.rawValue, person: personID.rawValue,
      role: role.rawValue, name: name, publicKey: keys.publicKey.z85, secretKey: keys.secretZ85,
      signingSecret: Data(deviceKeys.signingSecret),
      agreementSecret: Data(deviceKeys.agreementSecret), organizerKey: Data(organizerKey),
      relayKey: relayKey.z85, requests: requests, broadcasts: broadcasts)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }
}
