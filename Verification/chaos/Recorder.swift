import FamilyModel
import Foundation
import History
import Synchronization
import ZeroMQ

/// The clock of a run, which all its processes share: that of the machine, which is never set.
struct RunClock: Sendable {
  /// The run's start on the wall clock and on the machine's clock.
  private let wall = Date()
  private let machine = MonotonicInstant.now

  /// Seconds since the start.
  var elapsed: Double { (MonotonicInstant.now - machine).seconds }

  var now: Instant { instant(MonotonicInstant.now.nanoseconds) }

  /// The moment of a reading of the machine's clock, in nanoseconds.
  func instant(_ nanoseconds: UInt64) -> Instant {
    let past = Int64(nanoseconds) - Int64(machine.nanoseconds)
    return Instant(
      milliseconds: Int64(wall.timeIntervalSince1970 * 1_000) + past / 1_000_000)
  }

  /// Seconds from the start to a moment.
  func seconds(_ instant: Instant) -> Double {
    Double(instant.milliseconds) / 1_000 - wall.timeIntervalSince1970
  }
}

/// Records the history of a run on chaos's own clock.
final class Recorder: Sendable {
  private let history = Mutex(History())
  let clock = RunClock()

  /// Seconds since the start.
  var now: Double { clock.elapsed }

  func record(_ fact: Fact) { history.withLock { $0.record(fact, at: clock.now) } }
  func record(_ facts: [Fact]) {
    history.withLock { history in for fact in facts { history.record(fact, at: clock.now) } }
  }
  var all: History { history.withLock { $0 } }
}
