import Crypto
public import FamilyModel

/// A device's signing key and agreement key. The device signs its commands with the first and opens
/// key wraps with the second. The CURVE keys of its connection are separate.
///
/// Descriptions, dumps and reflection do not show the secrets.
public struct DeviceKeys: Sendable, CustomStringConvertible, CustomReflectable {
  let signing: Curve25519.Signing.PrivateKey
  let agreement: Curve25519.KeyAgreement.PrivateKey

  /// Generates random keys.
  public init() {
    signing = .init()
    agreement = .init()
  }

  /// Creates the keys from stored secrets; `nil` unless each has 32 bytes.
  public init?(signingSecret: [UInt8], agreementSecret: [UInt8]) {
    guard let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: signingSecret),
      let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: agreementSecret)
    else { return nil }
    self.signing = signing
    self.agreement = agreement
  }

  /// The Ed25519 public key, 32 bytes. The roster publishes it.
  public var signingKey: [UInt8] { Array(signing.publicKey.rawRepresentation) }
  /// The X25519 public key, 32 bytes. The roster publishes it.
  public var agreementKey: [UInt8] { Array(agreement.publicKey.rawRepresentation) }
  /// The Ed25519 secret, 32 bytes. Store it only in a file of mode 0600.
  public var signingSecret: [UInt8] { Array(signing.rawRepresentation) }
  /// The X25519 secret, 32 bytes. Store it only in a file of mode 0600.
  public var agreementSecret: [UInt8] { Array(agreement.rawRepresentation) }

  public var description: String { "keys of a device" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Device {
  /// Creates a device with these keys and a CURVE key.
  public init(id: DeviceID, person: PersonID, publicKey: [UInt8], keys: DeviceKeys) {
    self.init(
      id: id, person: person, publicKey: publicKey, signingKey: keys.signingKey,
      agreementKey: keys.agreementKey)
  }
}
