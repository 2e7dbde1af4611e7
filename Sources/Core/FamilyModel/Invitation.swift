/// Lets one device of a person join the family, once, until it expires (F3).
///
/// Whoever was given the code has the secret key that belongs to `key`, and nobody else: not the relay.
public struct Invitation: Hashable, Sendable {
  /// Ed25519, 32 bytes: what a joining device proves the code with.
  public var key: [UInt8]
  /// Whose device it will be.
  public var person: PersonID
  /// After this moment nobody joins with it.
  public var expires: Instant
  /// An invitation with these parts.
  public init(key: [UInt8], person: PersonID, expires: Instant) {
    self.key = key
    self.person = person
    self.expires = expires
  }
}

/// A device that has a code, and wants to join.
///
/// The proof is of its keys: the relay can drop the request, and cannot put other keys into it.
public struct JoinRequest: Hashable, Sendable {
  /// The key of the invitation.
  public var invitation: [UInt8]
  /// The device's CURVE public key.
  public var publicKey: [UInt8]
  /// The device's Ed25519 public key.
  public var signingKey: [UInt8]
  /// The device's X25519 public key.
  public var agreementKey: [UInt8]
  /// Ed25519, 64 bytes: of `signedBytes`, under the key of the invitation.
  public var proof: [UInt8]
  /// A request with these parts.
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

  /// What is proved: these keys, for this family.
  public func signedBytes(family: FamilyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay join 1")
    bytes.add(family.rawValue)
    bytes.add(invitation)
    bytes.add(publicKey)
    bytes.add(signingKey)
    bytes.add(agreementKey)
    return bytes.bytes
  }

  /// The id under which the relay keeps it: by time, as all ids are, and the device's key.
  public func command(at now: Instant) -> CommandID {
    let key = ID128(bytes: publicKey.prefix(16)) ?? ID128(high: 0, low: 0)
    let time = UInt64(truncatingIfNeeded: now.milliseconds) << 16
    return ID128(high: time | key.high & 0xFFFF, low: key.low)
  }
}
