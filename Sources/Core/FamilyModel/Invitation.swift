/// A guardian's permission for one new device of one person, valid once and until it expires.
///
/// Only the holder of the join code has the secret key that belongs to `key`; the relay does not.
public struct Invitation: Hashable, Sendable {
  /// The Ed25519 public key, 32 bytes, that verifies the joining device's proof.
  public var key: [UInt8]
  /// The owner of the new device.
  public var person: PersonID
  /// The last moment at which a device may join.
  public var expires: Instant
  /// Creates an invitation.
  public init(key: [UInt8], person: PersonID, expires: Instant) {
    self.key = key
    self.person = person
    self.expires = expires
  }
}

/// A device's request to join with a code.
///
/// The proof covers the device's keys: the relay can drop the request but cannot substitute other
/// keys.
public struct JoinRequest: Hashable, Sendable {
  /// The invitation's public key.
  public var invitation: [UInt8]
  /// The device's CURVE public key.
  public var publicKey: [UInt8]
  /// The device's Ed25519 public key.
  public var signingKey: [UInt8]
  /// The device's X25519 public key.
  public var agreementKey: [UInt8]
  /// The Ed25519 signature, 64 bytes, of `signedBytes` under the invitation's key.
  public var proof: [UInt8]
  /// Creates a request; `proof` may be added later.
  public init(
    invitation: [UInt8], publicKey: [UInt8], signingKey: [UInt8], agreementKey: [UInt8],
    proof: [UInt8] = []
  ) {
    self.invitation = invitation
    self.publicKey = publicKey
    self.signingKey = signingKey
    self.agreementKey = agreementKey
    self.proof = proof
  }

  /// Whether a key has low order, so that everyone knows its secrets.
  public var hasWeakKey: Bool {
    LowOrder.isAgreementKey(publicKey) || LowOrder.isAgreementKey(agreementKey)
      || LowOrder.isSigningKey(signingKey) || LowOrder.isSigningKey(invitation)
  }

  /// The bytes under the proof: the family and the device's keys.
  public func signedBytes(family: FamilyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay join 1")
    bytes.add(family.rawValue)
    bytes.add(invitation)
    bytes.add(publicKey)
    bytes.add(signingKey)
    bytes.add(agreementKey)
    return bytes.bytes
  }

  /// The command id under which the relay stores the request, made of the time and the device's
  /// key.
  public func command(at now: Instant) -> CommandID {
    let key = ID128(bytes: publicKey.prefix(16)) ?? ID128(high: 0, low: 0)
    let time = UInt64(truncatingIfNeeded: now.milliseconds) << 16
    return ID128(high: time | key.high & 0xFFFF, low: key.low)
  }
}
