import FamilyModel

/// Approvals that end without a withdrawal.
///
/// The entry by which an app forgets a handle and the latest time are durable in one transaction. An
/// approval therefore ends exactly once, through kills and with any clock.
extension ChildMachine {
  /// Ends the approvals whose end the latest time has reached, and enqueues the handles that the
  /// apps forget.
  mutating func endApprovals(into out: inout DeviceLink.Output, effects: inout [DeviceEffect]) {
    var later = known
    let ended = later.advance(to: latest.value)
    let before = ended.isEmpty ? [] : feeds.map { knownAndNamed(ended, in: $0) }
    known = later
    haveSitesMoved = haveSitesMoved || ended.contains { $0.kind == .site }
    for (feed, before) in zip(feeds, before) {
      let lost = before.filter { !known.contains($0, in: feed.app) }
      enqueue(lost, for: feed.app, into: &out, effects: &effects) { .forgotten($0) }
    }
  }

  /// Observes the device's clock and the time that an event proves, and ends the approvals that are
  /// due.
  mutating func observeTime(
    now: Instant, proven: Instant? = nil, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    let uptime = uptime ?? Milliseconds(now.milliseconds)
    latest.observe(clock: now, uptime: uptime)
    if let proven { latest.observe(proven: proven) }
    endApprovals(into: &out, effects: &effects)
  }

  /// Makes the latest time durable while an approval with an end is open, or if one ended in this
  /// step.
  mutating func recordLatestTime(into out: inout DeviceLink.Output) {
    guard latest.value > latest.recorded, known.nextEnd(after: latest.recorded) != nil else {
      return
    }
    latest.recorded = latest.value
    out.changes.append(.put(.latestTime(latest.value)))
  }

  /// When an approval may end, or the latest time is recorded again; `nil`: no approval has an end.
  var endDeadline: Instant? { known.nextEnd(after: known.latest).map(latest.deadline) }
}
