import FamilyModel

/// The rosters of the relay's present history, by the digests that signatures name.
extension EventVerifier {
  /// Records a roster of the relay's present history, whether this device verifies it or not.
  mutating func show(_ event: Event) {
    guard case .rosterChanged(let roster) = event.body, event.isRoster, hasRead(event),
      event.seq > shownRosters.last?.seq ?? 0
    else { return }
    let (digest, vault) = (rosterDigest(of: event), vault)
    shownRosters.append((event.seq, roster, digest))
    if shownRosters.count > Limits.shownRosters { shownRosters.removeFirst() }
    evidence?.add(event, digest: digest, vault)
  }

  /// The digest that names a signed roster; zero for any other event.
  func rosterDigest(of event: Event) -> ChainHash {
    event.rosterDigest(in: family) { vault.digest($0) }
  }

  /// Whether the digest names the newest roster of the relay's present history before a position.
  func isShown(_ roster: ChainHash, before seq: UInt64) -> Bool {
    roster == shownRosters.last { $0.seq < seq }?.digest ?? ChainHash()
  }

  /// Whether the newest verified roster, which the event brought, changes the one verified before it.
  func changesLastRoster(_ event: Event) -> Bool {
    event.signature?.known.roster == rosters.dropLast().last?.digest ?? ChainHash()
  }

  /// Whether the digest names a verified roster.
  func isKnown(_ roster: ChainHash) -> Bool { rosters.contains { $0.digest == roster } }
}
