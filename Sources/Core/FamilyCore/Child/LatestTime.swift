import FamilyModel

/// The latest time that a device has seen, by which approvals end. The time never decreases.
///
/// The time is at least the device's clock, the time of each decision, and the former value plus the
/// time that has passed. A clock that is set back therefore neither stops nor delays it. The relay's
/// time alone does not count: a relay whose clock is ahead would end approvals early, and for good.
struct LatestTime: Sendable {
  private(set) var value = Instant(milliseconds: .min)
  private var last: (clock: Instant, uptime: Milliseconds)?
  /// The durable value. Durable while an approval with an end is open; otherwise no decision depends
  /// on the time.
  var recorded = Instant(milliseconds: .min)

  /// Restores the durable value.
  mutating func restore(_ time: Instant) {
    value = max(value, time)
    recorded = time
  }

  /// Observes the device's clock.
  ///
  /// - Parameter uptime: The reading of a clock that is never set.
  mutating func observe(clock now: Instant, uptime: Milliseconds) {
    let passed = last.map { max(.zero, uptime - $0.uptime) } ?? .zero
    value = max(now, value + passed)
    last = (now, uptime)
  }

  /// Observes a time that an event proves.
  mutating func observe(proven time: Instant) { value = max(value, time) }

  /// When the clock probably shows that the end has come, or that a tick has passed. Before the first
  /// step the time that passes is not measured, so that the deadline has passed.
  func deadline(of end: Instant) -> Instant {
    guard let last else { return Instant(milliseconds: 0) }
    return last.clock + min(end - value, Timing.tick)
  }

  /// The device's clock at the last step; `nil` before the first one.
  var clock: Instant? { last?.clock }
}
