import FamilyModel
import Foundation
import History
import Synchronization
import SystemClock

/// The history of the run, while it is made, on the clock of chaos itself.
final class Recorder: Sendable {
  private let history = Mutex(History())
  let start = Date()

  /// Seconds since the beginning.
  var now: Double { Date().timeIntervalSince(start) }

  func note(_ fact: Fact) { history.withLock { $0.note(fact, at: .now) } }
  func note(_ facts: [Fact]) {
    history.withLock { history in for fact in facts { history.note(fact, at: .now) } }
  }
  var all: History { history.withLock { $0 } }
}
