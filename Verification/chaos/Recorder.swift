import FamilyModel
import Foundation
import History
import Synchronization
import SystemClock

/// Records the history of a run on chaos's own clock.
final class Recorder: Sendable {
  private let history = Mutex(History())
  let start = Date()

  /// Seconds since the start.
  var now: Double { Date().timeIntervalSince(start) }

  func record(_ fact: Fact) { history.withLock { $0.record(fact, at: .now) } }
  func record(_ facts: [Fact]) {
    history.withLock { history in for fact in facts { history.record(fact, at: .now) } }
  }
  var all: History { history.withLock { $0 } }
}
