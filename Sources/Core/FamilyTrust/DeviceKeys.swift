import Crypto
public import FamilyModel

/// The keys by which a device decides and reads: it signs with one, and opens with the other what was sealed
/// for it. The CURVE keys, beside them, are for its connection alone.
///
/// The secrets show in no description, dump or reflection.
public struct DeviceKeys: Sendable, CustomStringConvertible, CustomReflectable {
  let signing: Curve25519.Signing.PrivateKey
  let agreement: Curve25519.KeyAgreement.PrivateKey

  /// New random keys.
  public init() {
    signing = .init()
    agreement = .init()
  }

  /// The keys of stored secrets; `nil` unless each has 32 bytes.
  public init?(signingSecret: [UInt8], agreementSecret: [UInt8]) {
    guard let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: signingSecret),
      let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: agreementSecret)
    else { return nil }
    self.signing = signing
    self.agreement = agreement
  }

  /// Ed25519, 32 bytes: tell it to everybody in the family.
  public var signingKey: [UInt8] { Array(signing.publicKey.rawRepresentation) }
  /// X25519, 32 bytes: tell it to everybody in the family.
  public var agreementKey: [UInt8] { Array(agreement.publicKey.rawRepresentation) }
  /// 32 secret bytes, for a file of mode 0600 only.
  public var signingSecret: [UInt8] { Array(signing.rawRepresentation) }
  /// 32 secret bytes, for a file of mode 0600 only.
  public var agreementSecret: [UInt8] { Array(agreement.rawRepresentation) }

  public var description: String { "keys of a device" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Device {
  /// A device with these keys, beside its CURVE key.
  public init(id: DeviceID, person: PersonID, publicKey: [UInt8], keys: DeviceKeys) {
    self.init(
      id: id, person: person, publicKey: publicKey, signingKey: keys.signingKey,
      agreementKey: keys.agreementKey)
  }
}
