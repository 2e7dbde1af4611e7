import FamilyModel

extension KeyRing {
  /// A verified key share.
  struct Share: Sendable {
    var wraps: [KeyWrap]
    var audience: Audience
    var sharer: Device
    /// The position of the event.
    var seq: UInt64
    /// The relay's time of the event.
    var at: Instant
    /// See ``Signature/basedOnSeq``.
    var basedOnSeq: UInt64
    /// The audience's readers, if the share may name others: ``Limits/keyReaders`` bounds those.
    var known: Set<[UInt8]>?
  }

  /// The bytes that a key wrap is bound to.
  static func binding(_ family: FamilyID, _ audience: Audience, _ name: ContentKeyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay key 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(name)
    return bytes.bytes
  }

  /// The key's name: a digest under the key itself, so another key cannot have this name.
  static func name(of secret: [UInt8], _ vault: any DeviceVault) -> ContentKeyID {
    let digest = vault.digest(BoundBytes("permission-relay key name 1").bytes, under: secret)
    return ContentKeyID(bytes: digest.prefix(16)) ?? ContentKeyID(high: 0, low: 0)
  }
}
