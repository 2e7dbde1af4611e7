import FamilyModel

/// The content keys that a device learns and makes.
extension EventVerifier {
  /// The newest event of the family's audience that this device has read.
  var familySeq: UInt64 { head(.family).seq }

  /// Learns the keys of a verified key share.
  ///
  /// - Throws: `badKeyShare` or `tooManyKeys`, as the relay does at the same position.
  mutating func learn(_ wraps: [KeyWrap], from event: Event) throws(Problem) {
    guard let signature = event.signature, let roster = roster(before: event.seq),
      let sharer = roster.device(signature.signer)
    else { throw .notSigned }
    // After a fork, the relay and the sharer may know other readers. Their keys still open contents,
    // and no device seals under a key with a reader that it does not know.
    var known: Set<[UInt8]>?
    if hasSeenFork {
      known = Set(roster.readers(of: event.audience).map(\.agreementKey))
    } else {
      try roster.check(wraps, in: event.audience)
    }
    let share = KeyRing.Share(
      wraps: wraps, audience: event.audience, sharer: sharer, seq: event.seq, at: event.at,
      basedOnSeq: signature.basedOnSeq, known: known)
    let opened = try ring.learn(share, in: family, vault)
    for name in opened { deferred.release(.key(event.audience, name)) }
  }

  /// Records a verified complaint.
  ///
  /// - Throws: `tooMany`, as the relay does.
  mutating func complain(_ keys: [ContentKeyID], from event: Event) throws(Problem) {
    guard let signer = event.signature?.signer,
      let reader = roster(before: event.seq)?.device(signer)?.agreementKey
    else { throw .notSigned }
    try keys.validateComplaint()
    ring.complain(keys, event.audience, by: reader, own: vault.agreementKey)
  }

  /// The keys that this device should have and cannot open. `isNamed`: a key share says that it has
  /// the key. Otherwise a deferred content needs the key, and this device has not complained yet.
  /// Ascending, so that every run complains about the same keys first.
  var missingKeys: [(audience: Audience, name: ContentKeyID, isNamed: Bool)] {
    (ring.unopened.map { ($0.audience, $0.name, true) }
      + deferred.missingKeys
      .filter { ring.mayComplain($0.name, $0.audience, own: vault.agreementKey) }
      .map { ($0.audience, $0.name, false) })
      .sorted { ($0.audience, $0.name) < ($1.audience, $1.name) }
  }

  /// The number of contents and of keys that this device cannot open.
  var unopenedCount: Int { deferred.keyless + ring.unopenedCount }

  /// Wraps that let the readers of an audience use a key again, because some complained about it;
  /// `nil` if no complaint is the reason.
  func wrapsToRepair(_ audience: Audience, _ readers: [Device]) -> [KeyWrap]? {
    guard let (entry, lacking) = ring.repairable(audience, for: readers), !lacking.isEmpty else {
      return nil
    }
    let wraps = lacking.compactMap { wrap(entry, audience, for: $0) }
    return wraps.count == lacking.count ? wraps : nil
  }

  /// Keeps the keys of a key share that this device made.
  ///
  /// - Parameters:
  ///   - wraps: The key share.
  ///   - audience: The audience of the keys.
  ///   - isShared: Whether the relay has the key share.
  ///   - basedOnSeq: The newest event of the family that this device knew when it made the key share;
  ///     `nil`: it makes the share now.
  mutating func keep(
    _ wraps: [KeyWrap], _ audience: Audience, isShared: Bool, basedOnSeq: UInt64? = nil
  ) {
    let opened = ring.keep(
      wraps, audience, in: family, seq: basedOnSeq ?? familySeq, isShared: isShared, vault)
    for name in opened { deferred.release(.key(audience, name)) }
  }

  /// Makes a key for the readers of an audience.
  ///
  /// - Parameters:
  ///   - maker: This device.
  ///   - time: The relay's time of the newest event that this device knows.
  /// - Throws: `tooManyKeys`, or `weakKey` if a reader's key is invalid.
  mutating func makeKey(
    _ audience: Audience, for readers: [Device], by maker: DeviceID, at time: Instant
  ) throws(Problem) -> [KeyWrap] {
    try ring.make(audience, for: readers, in: family, by: maker, seq: familySeq, at: time, vault)
  }

  /// The keys that readers lack and this device has.
  func keysLacking(_ audience: Audience, _ readers: [Device])
    -> [(entry: KeyRing.Entry, reader: Device)]
  {
    ring.lacking(audience, readers, own: vault.agreementKey, limit: Limits.keyWraps)
  }

  /// The key sealed for a reader; `nil` if the reader's key is invalid.
  func wrap(_ entry: KeyRing.Entry, _ audience: Audience, for reader: Device) -> KeyWrap? {
    let binding = KeyRing.binding(family, audience, entry.name)
    return vault.wrap(entry.secret ?? [], for: reader.agreementKey, binding: binding)
      .map { KeyWrap(key: entry.name, reader: reader.agreementKey, bytes: $0) }
  }
}
