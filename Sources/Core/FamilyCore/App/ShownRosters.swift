import FamilyModel

/// The rosters that a device has shown to its app, verified from the organizer's key on.
///
/// A modified device could show a restarted app the rosters from before a removal, and the removed
/// signers would count again. The app therefore stores a digest of all rosters that it has verified:
///
/// - *incomplete*, after a restart: evidence proves nothing.
/// - *incomplete* → (the device has shown the same rosters) *complete*.
/// - *incomplete* → (the device attaches) *incomplete*, without rosters.
///
/// The digest covers neither the positions of the rosters, nor the history that their signers knew. A
/// restored relay may receive a roster from a device again and append it elsewhere, and a device may
/// sign a refused roster again.
struct ShownRosters: Sendable {
  private let vault: any EvidenceVault
  private let pinned: AppSecurity
  /// Ascending by sequence number.
  private var proofs: [RosterProof] = []
  /// The keys that no later roster may contain.
  private var removedKeys = RemovedKeys()
  private var removals = Removals()
  /// The digest of the rosters in their order.
  private var digest: [UInt8] = []
  /// The stored digest, until the device has shown those rosters.
  private var missing: [UInt8]?

  init(_ vault: any EvidenceVault, pinned: AppSecurity) {
    self.vault = vault
    self.pinned = pinned
  }

  /// Whether the device has shown the stored rosters, or none are stored.
  var isComplete: Bool { missing == nil }

  /// Restores the digest of the rosters that a former process of the app verified.
  mutating func restore(_ digest: [UInt8]) { missing = digest }

  /// Starts the list of a new attachment. A complete list stays.
  mutating func restart() {
    guard let missing else { return }
    self = ShownRosters(vault, pinned: pinned)
    self.missing = missing
  }

  /// Verifies and appends the next roster. A known roster changes nothing.
  ///
  /// - Returns: The record of the rosters, if the roster is newer than the stored ones.
  /// - Throws: `replayed`, `notSigned`, `keyRemoved` or `tooMany`.
  mutating func append(_ proof: RosterProof) throws(Problem) -> AppRecord? {
    let next = proof.roster
    if let last = proofs.last, proof.seq <= last.seq {
      guard proofs.contains(proof) else { throw .replayed }
      return nil
    }
    guard proof.signature.basedOnSeq < proof.seq,
      proof.signature.basedOnSeq >= proofs.last?.seq ?? 0
    else { throw .replayed }
    let signer = proof.signature.signer
    let key =
      if let last = proofs.last {
        last.roster.key(forNext: next, by: signer)
      } else {
        next.key(forFirstBy: signer).flatMap { $0 == pinned.organizerKey ? $0 : nil }
      }
    guard let key,
      vault.verify(key, proof.signature.bytes, bytes(of: proof, knowing: proof.signature.known))
    else { throw .notSigned }
    let current = proofs.last?.roster
    try removedKeys.check(current ?? Roster(), next: next)
    removedKeys.record(from: current ?? Roster(), to: next)
    removals.record(from: current, to: next, proof.signature.known)
    proofs.append(proof)
    digest = vault.digest(digest + bytes(of: proof, knowing: Knowledge()))
    guard let missing else { return .rosters(digest) }
    if missing == digest { self.missing = nil }
    return nil
  }

  private func bytes(of proof: RosterProof, knowing known: Knowledge) -> [UInt8] {
    SignedBytes.of(
      .rosterChanged(proof.roster), proof.command, in: pinned.family, .family,
      by: proof.signature.signer, knowing: known, question: nil,
      hiddenDigest: { _ in proof.hiddenDigest }, contentDigest: { _ in [] })
  }

  /// The signing key of the device that signed the event, if its owner may decide the event in the
  /// roster before it.
  func key(for event: Event, by signer: DeviceID) -> [UInt8]? {
    guard isComplete, let roster = proofs.last(where: { $0.seq < event.seq })?.roster else {
      return nil
    }
    return removals.signingKey(for: event, by: signer, in: roster)
  }
}
