/// A person's device and its public keys.
public struct Device: Hashable, Sendable {
  /// Unique in the family; not zero.
  public var id: DeviceID
  /// The device's owner.
  public var person: PersonID
  /// The CURVE public key, 32 bytes. The relay identifies the device by it.
  public var publicKey: [UInt8]
  /// The Ed25519 public key, 32 bytes, that verifies the device's commands. A device without one
  /// cannot decide.
  public var signingKey: [UInt8]
  /// The X25519 public key, 32 bytes, that content keys are sealed for. A device without one cannot
  /// open content.
  public var agreementKey: [UInt8]
  /// Creates a device; without signing and agreement keys only for tests of the machines.
  public init(
    id: DeviceID, person: PersonID, publicKey: [UInt8], signingKey: [UInt8] = [],
    agreementKey: [UInt8] = []
  ) {
    self.id = id
    self.person = person
    self.publicKey = publicKey
    self.signingKey = signingKey
    self.agreementKey = agreementKey
  }

  /// Whether a key has low order, so that everyone knows its secrets.
  public var hasWeakKey: Bool {
    LowOrder.isAgreementKey(publicKey) || LowOrder.isAgreementKey(agreementKey)
      || LowOrder.isSigningKey(signingKey)
  }

  /// Whether every key has 32 bytes. The signing key and the agreement key may also be empty.
  public var isWellFormed: Bool {
    publicKey.count == 32 && [0, 32].contains(signingKey.count)
      && [0, 32].contains(agreementKey.count)
  }
}
