import FamilyModel

/// The time by which activities end, which a child cannot bring forward while the device's process runs.
///
/// The time is that of the relay at the last attachment, and before one the device's clock at the first step,
/// plus the time that has passed since. A child who sets the clock and restarts the device without a
/// connection brings it forward until the next attachment.
struct SteadyTime: Sendable {
  private var base: (time: Instant, uptime: Milliseconds)?

  /// Starts with the device's clock.
  ///
  /// - Parameter uptime: The reading of a clock that is never set.
  mutating func start(clock now: Instant, uptime: Milliseconds) { base = base ?? (now, uptime) }

  /// Learns the relay's present time.
  mutating func learn(relay time: Instant, uptime: Milliseconds) { base = (time, uptime) }

  /// The present time. Before the first step no end has come.
  func now(uptime: Milliseconds) -> Instant {
    guard let base else { return Instant(milliseconds: .min) }
    return base.time + max(.zero, uptime - base.uptime)
  }
}
