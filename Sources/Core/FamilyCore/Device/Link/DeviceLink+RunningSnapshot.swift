import FamilyModel

/// A snapshot that the shell makes while the device runs, so that a start after a kill replays few
/// events.
///
/// The shell restores a second machine from the stored records, as a start does. The running device
/// may have read the same events in another order, so its own state is no part of the snapshot.
struct RequestedSnapshot: Sendable {
  var number: UInt64
  /// The uncovered events at the request, which a dropped snapshot leaves uncovered.
  var events: Int
  /// The events that were stored after the request, up to ``Limits/eventsDuringSnapshot``.
  var stored: [(audience: Audience, seq: UInt64)] = []
}

/// - *None* → (enough events after the newest snapshot) *requested*.
/// - *Requested* → (made, and the store has the covered events only) *none*, stored.
/// - *Requested* → (an event up to its position is stored or read again) *none*.
extension DeviceLink {
  /// The snapshot that this start has made; `nil` without one. A device that ignores its former snapshot
  /// needs all its events first. Reports that replace events must be stored with the snapshot, which
  /// another machine does not do.
  public var newSnapshot: [UInt8]? {
    guard !hasIgnoredSnapshot, reportChanges.isEmpty,
      case .put(.snapshot(let bytes)) = snapshotChange
    else { return nil }
    return bytes
  }

  /// Requests a snapshot if enough events follow the newest one.
  ///
  /// - Parameter events: The number of events that this step has applied.
  mutating func requestSnapshot(_ events: Int) -> [DeviceEffect] {
    uncovered += events
    guard requestedSnapshot == nil, !hasReadNewer, let snapshots,
      uncovered >= max(
        snapshots.runningInterval << fruitlessRequests, Int(clamping: (coverage?.seq ?? 0) / 8))
        + snapshots.margin,
      verifier?.deferred.count == 0
    else { return [] }
    lastSnapshotRequest += 1
    requestedSnapshot = RequestedSnapshot(number: lastSnapshotRequest, events: uncovered)
    uncovered = 0
    return [.makeSnapshot(lastSnapshotRequest)]
  }

  /// Records that the device stores an event while a snapshot is made. A snapshot that takes longer
  /// than the next ``Limits/eventsDuringSnapshot`` events is dropped.
  mutating func storedWhileRequested(_ event: Event) {
    requestedSnapshot?.stored.append((event.audience, event.seq))
    if requestedSnapshot?.stored.count ?? 0 > Limits.eventsDuringSnapshot {
      dropRequestedSnapshot()
    }
  }

  /// Ends a request without a snapshot. The events before the request are uncovered again.
  mutating func dropRequestedSnapshot() {
    uncovered += requestedSnapshot?.events ?? 0
    requestedSnapshot = nil
  }

  /// Stores a requested snapshot, unless it lacks an event up to its position that the device has
  /// stored meanwhile.
  mutating func storeSnapshot(_ bytes: [UInt8]?, _ number: UInt64, into out: inout Output) {
    guard let requested = requestedSnapshot, requested.number == number, let snapshots else {
      return
    }
    // Records that allow no snapshot are read again only after twice as many events.
    guard let bytes, let made = SnapshotCoverage(of: bytes) else {
      fruitlessRequests = min(fruitlessRequests + 1, Limits.snapshotDoublings)
      return requestedSnapshot = nil
    }
    guard !requested.stored.contains(where: { made.lacks($0.audience, $0.seq) }),
      made.heads.entries.allSatisfy({ $0.value <= delivered($0.key) })
    else { return dropRequestedSnapshot() }
    (requestedSnapshot, fruitlessRequests) = (nil, 0)
    coverage = made
    uncovered += snapshots.margin
    out.changes.append(.put(.snapshot(bytes)))
  }
}
