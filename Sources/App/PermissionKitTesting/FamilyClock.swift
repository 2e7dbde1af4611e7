import FamilyModel
import Synchronization
import ZeroMQ

/// The clock of a family, which stands still until the test moves it.
final class FamilyClock: Sendable {
  private let time: Mutex<Instant>

  init(_ start: Instant) { time = Mutex(start) }

  /// The wall clock of the relay and of all devices.
  var now: Instant {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  /// The same time on the clock that is never set.
  var moment: MonotonicInstant { .machineStart + .milliseconds(now.milliseconds) }
}
