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
}
