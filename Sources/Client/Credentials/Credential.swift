public import FamilyCore
public import FamilyModel
public import FamilyTrust
public import Foundation
public import ZeroMQ

/// What a device needs to reach the relay: who it is, its keys, and the relay's address and key.
public struct Credential: Sendable {
  /// The device.
  public var address: DeviceAddress
  /// Whose it is.
  public var personID: PersonID
  /// What the person is in the family.
  public var role: Role
  /// The person's name, for the person's own screen.
  public var name: String
  /// The device's keys for its connection.
  public var keys: CurveKeyPair
  /// The device's keys for what it decides and reads.
  public var deviceKeys: DeviceKeys
  /// The Ed25519 key that the family's first roster is signed with: what this device trusts, and from where
  /// it comes to trust all others. Empty where the person is in no family group.
  public var organizerKey: [UInt8]
  /// The relay's key.
  public var relayKey: CurvePublicKey
  /// Where requests go.
  public var requests: String
  /// Where broadcasts come from.
  public var broadcasts: String
  /// Whether the person is in a family group (F7).
  public var isInFamily: Bool { address.family.rawValue != 0 }

  /// By what the device believes and reads.
  public var security: Security { security(sharing: nil) }

  /// The same for a device that is one of several in a process, which share what they have verified.
  public func security(sharing verified: Verified?) -> Security {
    Security(KeyVault(deviceKeys, sharing: verified), organizerKey: organizerKey)
  }

  /// The device, with its keys, as rosters list it.
  public var device: Device {
    Device(
      id: address.device, person: personID, publicKey: keys.publicKey.bytes, keys: deviceKeys)
  }

  /// What the device would know after these events: for who visits the relay beside it.
  public func machine(restoring events: [Event]) -> GuardianMachine {
    GuardianMachine(
      address, of: personID, security: security, restoring: events.map { .event($0) },
      ids: IDSource(seed: .random(in: .min ... .max)))
  }

  /// A credential of these parts.
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

  /// Reads a credential file, which only its owner may read.
  ///
  /// - Throws: `PrivateFile.Failure` with what to do.
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
          "\(file.path) is not a credential file of this version: `relayctl apply` writes them.")
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
