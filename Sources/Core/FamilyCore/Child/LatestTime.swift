import FamilyModel

/// The latest time that a device has seen, by which approvals end. The time never decreases.
///
/// The time is at least the device's clock, the relay's time, and the former value plus the time that
/// has passed. A clock that is set back therefore neither stops nor delays it.
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
  /// - Parameter relay: The present time as far as the relay vouches for it.
  mutating func observe(clock now: Instant, uptime: Milliseconds, relay: Instant?) {
    let passed = last.map { max(.zero, uptime - $0.uptime) } ?? .zero
    value = max(now, value + passed, relay ?? now)
    last = (now, uptime)
  }

  /// When the clock probably shows that the end has come, or that a tick has passed.
  func deadline(of end: Instant) -> Instant {
    guard let last else { return end }
    return last.clock + min(end - value, Timing.tick)
  }
}
