import FamilyModel

/// Starting from a snapshot: the state that the events up to a position add up to.
///
/// A snapshot is what a start has computed, so that the next start need not compute it again. The
/// state of a running device is no part of it: that device may have read the same events in another
/// order. A device with lost, rejected or deferred events makes no snapshot, and ignores one. A device
/// with events that are newer than its version keeps its former snapshot.
///
/// - *None* → (a start replays enough events, or the device applies enough while it runs) *stored*.
/// - *Stored* → (a start or a run adds enough later events) *stored*, replaced.
/// - *Stored* → (a covered event is read again, or an event arrives that it should cover) *none*.
extension DeviceLink {
  /// The records of a device that a start turns into its state.
  struct StoredHistory {
    var events: [Event] = []
    /// The copies of lost events.
    var lost: [(event: Event, after: UInt64)] = []
    /// The events that are newer than this version, or depend on such an event.
    var newer: [Event] = []
    /// The positions of events that were not kept.
    var passed: [Audience: [ChainPosition]] = [:]
    var snapshot: [UInt8]?
  }

  /// A snapshot in the making.
  struct SnapshotDraft {
    var coverage: SnapshotCoverage
    /// The packed state of the link.
    var state: [UInt8]
    /// The number of restored events that the state includes.
    var events: Int
  }

  /// The part of a child's machine in a snapshot.
  struct RestoredChild {
    var known = KnownHandles()
    var consents = Consents()
    var newestTime: Instant?
  }

  // MARK: Reading

  /// Restores the state of a snapshot, and removes the events that it covers. Without a usable
  /// snapshot, nothing changes.
  mutating func restoreSnapshot(from history: inout StoredHistory) {
    let opened = snapshots?.takeOpened?()
    snapshots?.takeOpened = nil
    guard history.snapshot != nil || opened != nil else { return }
    hasIgnoredSnapshot = true
    guard let snapshots, history.lost.isEmpty,
      let opened = opened ?? history.snapshot.flatMap(snapshots.read),
      isConsistent(opened.coverage, with: history),
      let restored = Unpacker.read(opened, { restored(from: &$0) })
    else { return }
    let head = opened.coverage
    self = restored
    if let storage = snapshots.storage { moveHistory(to: storage) }
    hasIgnoredSnapshot = false
    coverage = head
    history.events.removeAll { head.covers($0.audience, $0.seq) }
    for audience in history.passed.keys.sorted() {
      history.passed[audience]!.removeAll { head.covers(audience, $0.seq) }
    }
  }

  /// Whether the store has all events that the snapshot covers, and no other one up to its position.
  private func isConsistent(_ coverage: SnapshotCoverage, with history: StoredHistory) -> Bool {
    coverage.heads.entries.allSatisfy { $0.value <= delivered($0.key) }
      && !(history.events + history.newer).contains { coverage.lacks($0.audience, $0.seq) }
      && !history.newer.contains { coverage.covers($0.audience, $0.seq) }
      && !history.passed.contains { audience, positions in
        positions.contains { coverage.lacks(audience, $0.seq) }
      }
  }

  /// A copy of this link with the snapshot's state.
  private func restored(from packed: inout Unpacker) -> DeviceLink {
    var link = self
    let isOwn =
      FamilyID(packed.number()) == address.family && packed.value() == address.device
      && packed.value() == personID && packed.array() == verifier?.organizerKey ?? []
      && packed.bool() == (verifier?.evidence != nil) && packed.bool() == isChild
    guard isOwn else {
      packed.fail()
      return link
    }
    link.family = packed.value()
    link.verifier?.restore(&packed)
    link.verifier?.chains = packed.value()
    link.joined = packed.value()
    link.statements = packed.value()
    link.kept = packed.value()
    link.hearing = packed.value()
    link.sender.ids.restore(&packed)
    if isChild {
      let known = packed.value() as KnownHandles
      let consents = packed.value() as Consents
      link.restoredChild = RestoredChild(
        known: known, consents: consents, newestTime: packed.value())
    }
    return link
  }

  // MARK: Making

  /// The index of the last event that a new snapshot covers; `nil`: none is due.
  func lastToCover(of events: [Event], _ history: StoredHistory) -> Int? {
    guard let snapshots, verifier != nil, history.lost.isEmpty, !hasReadNewer,
      events.count >= snapshots.interval + snapshots.margin
    else { return nil }
    return events.count - snapshots.margin - 1
  }

  /// Packs the state after the event at a position. Precondition: this device has applied all events
  /// up to the position, in order.
  mutating func draftSnapshot(at seq: UInt64, events: Int) {
    guard let snapshots, let verifier, verifier.deferred.count == 0, !verifier.deferred.hasDropped,
      statements.canPack(snapshots.coding)
    else { return }
    var chains = verifier.chains
    var heads = SmallMap<Audience, UInt64>()
    for entry in verifier.chains.entries {
      chains[entry.key]!.cut(after: seq)
      heads[entry.key] = chains[entry.key]!.head.seq
    }
    let state = Packer.bytes(coding: snapshots.coding) { packer in
      packer.add(address.family.rawValue)
      packer.add(address.device)
      packer.add(personID)
      packer.add(verifier.organizerKey)
      packer.add(verifier.evidence != nil)
      packer.add(isChild)
      packer.add(family)
      verifier.pack(&packer)
      packer.add(chains)
      packer.add(joined)
      packer.add(statements)
      packer.add(kept)
      packer.add(hearing)
      sender.ids.pack(&packer)
    }
    draft = SnapshotDraft(
      coverage: SnapshotCoverage(seq: seq, heads: heads), state: state, events: events)
  }

  /// Seals the snapshot in the making, which the next step stores.
  ///
  /// - Parameter child: The state of a child's machine after the covered events.
  mutating func finishSnapshot(child: RestoredChild? = nil) {
    defer { draft = nil }
    snapshotChange = hasIgnoredSnapshot ? .delete(.snapshot) : nil
    guard let draft, let snapshots else { return }
    let end = Packer.bytes(coding: snapshots.coding) { packer in
      guard let child else { return }
      packer.add(child.known)
      packer.add(child.consents)
      packer.add(child.newestTime)
    }
    guard var stored = StoredSnapshot.head(draft.coverage) else { return }
    let head = stored.count
    guard snapshots.seal([draft.state, end], &stored), stored.count - head <= Limits.snapshotBytes
    else { return }
    coverage = draft.coverage
    uncovered = snapshots.margin
    snapshotChange = .put(.snapshot(stored))
  }

  /// Takes the changes of this start, which belong to one transaction: the snapshot covers the events
  /// that the reports replace.
  mutating func takeStartChanges() -> [RecordChange] {
    defer { (reportChanges, snapshotChange) = ([], nil) }
    return reportChanges + [snapshotChange].compactMap { $0 }
  }

  /// Removes the snapshot, because the store changes below its position. The next start would replay
  /// all events, so the running device makes another one soon.
  mutating func dropSnapshot(into out: inout Output) {
    guard let coverage else { return }
    uncovered += Int(clamping: coverage.seq)
    (self.coverage, snapshotChange) = (nil, nil)
    out.changes.append(.delete(.snapshot))
  }
}

extension AudienceChain {
  /// Removes the positions after `seq`.
  mutating func cut(after seq: UInt64) {
    positions.removeLast(positions.count - positions.lowerBound { $0.seq <= seq })
  }
}
