package import FamilyModel
package import ZeroMQ

/// The clocks of a host.
package struct HostClock {
  private let wall: () -> Instant
  private let monotonic: () -> MonotonicInstant

  /// Creates the clocks.
  ///
  /// - Parameters:
  ///   - wall: The wall clock, which may be set back.
  ///   - monotonic: A clock that is never set.
  package init(wall: @escaping () -> Instant, monotonic: @escaping () -> MonotonicInstant) {
    self.wall = wall
    self.monotonic = monotonic
  }

  /// The present time of the wall clock.
  var now: Instant { wall() }
  /// The present moment of the clock that is never set.
  var moment: MonotonicInstant { monotonic() }
  /// The time since the machine's start.
  var uptime: Milliseconds { .milliseconds(moment.uptime.milliseconds) }
}
