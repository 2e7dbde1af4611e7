import Synchronization

/// The faults that end, stop or starve processes. While one lasts, a process need not end in time
/// and with code 0.
final class Disturbances: Sendable {
  private struct Count {
    var active = 0
    var ended = 0
  }
  private let counts = Mutex<[String: Count]>([:])

  /// The processes that the fault disturbs.
  private static func victims(of fault: Fault) -> [String] {
    switch fault.kind {
    case .cut, .slow, .blackHole, .oneWay, .clock: []
    case .kill, .stop, .storm, .diskFull, .slowDisk, .diskError, .powerLoss, .damagedRelay,
      .damagedAgent, .restoredCopy, .terminate, .rollingRestart, .netem:
      fault.victims
    }
  }

  func begin(_ fault: Fault) {
    counts.withLock { counts in
      for name in Self.victims(of: fault) { counts[name, default: Count()].active += 1 }
    }
  }

  func end(_ fault: Fault) {
    counts.withLock { counts in
      for name in Self.victims(of: fault) {
        counts[name, default: Count()].active -= 1
        counts[name, default: Count()].ended += 1
      }
    }
  }

  /// A number that changes with each end of another fault of the process; `nil` while one lasts.
  ///
  /// Precondition: the caller's own fault is one of the active ones.
  func calm(_ name: String) -> Int? {
    counts.withLock { counts in
      let count = counts[name] ?? Count()
      return count.active <= 1 ? count.ended : nil
    }
  }
}
