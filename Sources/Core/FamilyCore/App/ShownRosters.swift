import FamilyModel

/// The rosters that a device has shown to its app, verified from the organizer's key on.
///
/// Each roster names the one that it changes. The rosters form a chain, with a branch for each history
/// that a relay has shown to a signer. The device shows them in the order in which it counts them. Of
/// a branch, only signers count who have the right in the last roster, and no person or device returns
/// that another branch has removed.
///
/// A modified device could show a restarted app the rosters from before a removal, and the removed
/// signers would count again. The app therefore stores the digest of each roster that it counts:
///
/// - *complete* → (the device attaches) *incomplete*, without rosters: evidence proves nothing.
/// - *incomplete* → (the device has shown all stored rosters) *complete*.
///
/// A digest covers neither the position of a roster, nor the history that its signer knew. A restored
/// relay may receive a roster from a device again and append it elsewhere, and a device may sign a
/// refused roster again.
struct ShownRosters: Sendable {
  /// A verified roster.
  private struct Entry: Sendable {
    var digest: ChainHash
    var proof: RosterProof
    /// The roster without the persons and devices that another branch has removed; `nil` if the signer
    /// had lost its right in another branch, so that the roster does not count.
    var counted: Roster?
  }

  private let vault: any EvidenceVault
  private let pinned: AppSecurity
  /// In the order in which the device shows them.
  private var entries: [Entry] = []
  /// The keys that no later roster may contain.
  private var removedKeys = RemovedKeys()
  private var removals = Removals()
  /// The stored digests.
  private var stored: Set<ChainHash> = []
  /// The stored digests of the rosters that the device has not shown yet.
  private var missing: Set<ChainHash> = []

  init(_ vault: any EvidenceVault, pinned: AppSecurity) {
    self.vault = vault
    self.pinned = pinned
  }

  /// Whether the device has shown the stored rosters, or none are stored.
  var isComplete: Bool { missing.isEmpty }

  /// The devices of the last roster that counts, in order.
  var signers: [DeviceID] { last?.counted?.devices.map(\.id) ?? [] }

  /// The last roster that counts.
  private var last: Entry? { entries.last { $0.counted != nil } }

  /// Restores the digest of a roster that a former process of the app verified.
  mutating func restore(_ digest: ChainHash) {
    stored.insert(digest)
    missing.insert(digest)
  }

  /// Starts the list of a new attachment.
  mutating func restart() {
    let stored = stored
    self = ShownRosters(vault, pinned: pinned)
    (self.stored, missing) = (stored, stored)
  }

  /// Verifies and appends the next roster. A known roster moves to the position that the device states.
  ///
  /// - Returns: The record of the roster, if the app has not stored it before.
  /// - Throws: `replayed`, `notSigned`, `keyRemoved` or `tooMany`.
  mutating func append(_ proof: RosterProof) throws(Problem) -> AppRecord? {
    let digest = SignedBytes.digest(
      of: proof.roster, proof.command, in: pinned.family, by: proof.signature.signer,
      hiddenDigest: proof.hiddenDigest, { vault.digest($0) })
    if let index = entries.firstIndex(where: {
      $0.digest == digest && $0.proof.signature == proof.signature
    }) {
      entries[index].proof.seq = proof.seq
      return nil
    }
    let former = try verify(proof)
    let counted = try count(proof, digest, after: former)
    entries.append(Entry(digest: digest, proof: proof, counted: counted))
    guard counted != nil else { return nil }
    missing.remove(digest)
    return stored.insert(digest).inserted ? .roster(digest) : nil
  }

  /// Verifies the signature of a roster by a member of the roster that it changes.
  ///
  /// - Returns: The entry of the roster that it changes; `nil` for the first one.
  private func verify(_ proof: RosterProof) throws(Problem) -> Entry? {
    let signature = proof.signature
    let former = entries.first { $0.digest == signature.known.roster }
    guard former != nil || entries.isEmpty && signature.known.roster.isZero else { throw .replayed }
    let key =
      former.map { $0.proof.roster.key(forNext: proof.roster, by: signature.signer) }
      ?? proof.roster.key(forFirstBy: signature.signer).flatMap {
        $0 == pinned.organizerKey ? $0 : nil
      }
    let bytes = SignedBytes.of(
      .rosterChanged(proof.roster), proof.command, in: pinned.family, .family,
      by: signature.signer, knowing: signature.known, question: nil,
      hiddenDigest: { _ in proof.hiddenDigest }, contentDigest: { _ in [] })
    guard let key, vault.verify(key, signature.bytes, bytes) else { throw .notSigned }
    return former
  }

  /// Records what a verified roster removes.
  ///
  /// - Returns: The roster as it counts; `nil` if its signer has lost the right in another branch.
  private mutating func count(
    _ proof: RosterProof, _ digest: ChainHash, after former: Entry?
  ) throws(Problem) -> Roster? {
    var next = proof.roster
    if let former, let last = last?.counted {
      if former.digest == self.last?.digest {
        try removedKeys.check(last, next: next)
      } else {
        let mayDecide = last.key(forNext: next, by: proof.signature.signer) != nil
        guard mayDecide || stored.contains(digest) else { return nil }
        next = next.withoutRemoved(
          since: entries.map(\.proof.roster), now: last, removedKeys)
      }
      removedKeys.record(from: former.proof.roster, to: proof.roster)
    }
    removals.record(from: last?.counted, to: next, proof.signature.known)
    return next
  }

  /// The signing key of the device that signed the event, if its owner may decide the event in the
  /// roster before it, or in the last one.
  ///
  /// While a relay shows another history, a roster may be later in it than the event that its device
  /// has counted. No signature covers the position of an event, so the last roster proves as much.
  func key(for event: Event, by signer: DeviceID) -> [UInt8]? {
    let before = entries.last { $0.counted != nil && $0.proof.seq < event.seq }
    guard isComplete else { return nil }
    for case let roster? in [before?.counted, last?.counted] {
      if let key = removals.signingKey(for: event, by: signer, in: roster) { return key }
    }
    return nil
  }
}
