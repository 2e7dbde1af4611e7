public import FamilyModel
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
  /// The device's keys.
  public var keys: CurveKeyPair
  /// The relay's key.
  public var relayKey: CurvePublicKey
  /// Where requests go.
  public var requests: String
  /// Where broadcasts come from.
  public var broadcasts: String
  /// Whether the person is in a family group (F7).
  public var isInFamily: Bool { address.family.rawValue != 0 }

  /// A credential of these parts.
  public init(
    address: DeviceAddress, personID: PersonID, role: Role, name: String, keys: CurveKeyPair,
    relayKey: CurvePublicKey, requests: String, broadcasts: String
  ) {
    self.address = address
    self.personID = personID
    self.role = role
    self.name = name
    self.keys = keys
    self.relayKey = relayKey
    self.requests = requests
    self.broadcasts = broadcasts
  }

  private struct File: Codable {
    var version = 1
    var family: UInt64
    var device: UInt32
    var person: UInt32
    var role: UInt8
    var name: String
    var publicKey: String
    var secretKey: String
    var relayKey: String
    var requests: String
    var broadcasts: String
  }

  /// Reads a credential file, which only its owner may read.
  ///
  /// - Throws: `PrivateFile.Failure` with what to do.
  public static func read(from file: URL) throws -> Credential {
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      keys.publicKey.z85 == content.publicKey, let relayKey = CurvePublicKey(z85: content.relayKey),
      let role = Role(rawValue: content.role)
    else {
      throw PrivateFile.Failure(
        description: "\(file.path) is not a credential file: `relayctl apply` writes them.")
    }
    return Credential(
      address: DeviceAddress(
        family: FamilyID(content.family), device: DeviceID(content.device)),
      personID: PersonID(content.person), role: role, name: content.name, keys: keys,
      relayKey: relayKey, requests: content.requests, broadcasts: content.broadcasts)
  }

  /// Writes a credential file with mode 0600.
  public func write(to file: URL) throws {
    let content = File(
      family: address.family.rawValue, device: address.device.rawValue, person: personID.rawValue,
      role: role.rawValue, name: name, publicKey: keys.publicKey.z85, secretKey: keys.secretZ85,
      relayKey: relayKey.z85, requests: requests, broadcasts: broadcasts)
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }
}
