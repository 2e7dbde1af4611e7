import FamilyModel

/// Events that are newer than this version.
///
/// *Read* → (this version does not know the kind) *newer* → (a start of a later version
/// that knows it) *applied*. The cursor passes the event in every case.
extension DeviceLink {
  /// Whether an event that was rejected for this problem is kept: it may depend on an event that this
  /// version does not know.
  mutating func keepsRejected(_ problem: Problem) -> Bool {
    guard hasReadNewer, problem != .replayed, keptRejected < Limits.rejectedForNow else {
      return false
    }
    keptRejected += 1
    return true
  }

  /// The record of an event that this device has read.
  ///
  /// - Parameter applied: The events that were applied because of it.
  func record(of event: Event, _ reading: Reading, _ applied: ArraySlice<Event>) -> DeviceRecord {
    let isNewer =
      reading == .rejectedForNow || reading != .rejected && event.body.isOpaque
      || applied.contains { $0.body.isOpaque && $0.seq == event.seq }
    if isNewer { return .newer(event) }
    // A restarted device must know the relay's newest roster, whether it verifies or not.
    let isWebReport = applied.contains { $0.seq == event.seq && $0.body.isWebReport }
    let isKept = reading != .rejected && !isWebReport || event.isRoster
    return isKept ? .event(event) : .passed(event.audience, event.position)
  }

  /// Restores the stored events.
  ///
  /// Events that are newer than this version, too, have their place in the log. A version that knows
  /// some of them leaves those out: the first step evaluates them, so that owner and apps learn of them.
  ///
  /// - Returns: The events that verified, with their content open.
  mutating func restoreEvents(_ history: inout StoredHistory) -> [Event] {
    guard !history.newer.isEmpty else {
      var rejected: Set<UInt64> = []
      return replay(&history, rejected: &rejected)
    }
    let (before, stored) = (self, history)
    var passed: Set<UInt64> = []
    let events = replay(&history, rejected: &passed)
    for event in events where event.body.isOpaque { passed.insert(event.seq) }
    let known = stored.newer.filter { !passed.contains($0.seq) && !isDeferred($0) }
    guard !known.isEmpty else { return events }
    let seqs = Set(known.map(\.seq))
    (self, history) = (before, stored)
    newer = known
    history.newer.removeAll { seqs.contains($0.seq) }
    return replay(&history, rejected: &passed)
  }

  /// Whether the event waits for a key, or for an earlier event.
  private func isDeferred(_ event: Event) -> Bool {
    event.commandName.map { verifier?.deferred.holds($0) ?? false } ?? false
  }

  /// The changes that store a deferred event as newer than this version.
  func changes(marking event: Event) -> [RecordChange] {
    [.delete(.event(event.audience, seq: event.seq)), .put(.newer(event))]
  }

  /// Verifies the stored events that were newer than an earlier version, as if they had arrived now:
  /// owner and apps learn what this version knows of them.
  mutating func evaluateNewer(into out: inout Output) {
    out.changes += takeStartChanges()
    guard !newer.isEmpty else { return }
    let (events, rejected) = (newer, out.rejected)
    newer = []
    hasReadNewer = true
    for event in events {
      let before = out.events.count
      let reading = verify(event, into: &out)
      let record = record(of: event, reading, out.events[before...])
      if case .newer = record { continue }
      out.changes += [.delete(.newer(event.audience, seq: event.seq)), .put(record)]
    }
    // They were reported when they arrived.
    out.rejected = rejected
  }
}
