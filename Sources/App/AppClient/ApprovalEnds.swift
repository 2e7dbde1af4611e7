import FamilyCore
package import FamilyModel

/// The ends of known handles, for readers on any thread.
struct ApprovalEnds {
  private(set) var ends: [Handle: Instant]
  /// The latest time that the device proved or the app's clock showed. Never decreases.
  private(set) var latest: Instant

  init(ends: [Handle: Instant] = [:], latest: Instant = Instant(milliseconds: .min)) {
    self.ends = ends
    self.latest = latest
  }

  /// Whether the machine has other ends, or a later time.
  func differs(from machine: AppMachine) -> Bool {
    ends != machine.ends || latest < machine.latestTime
  }

  mutating func update(_ machine: AppMachine) {
    ends = machine.ends
    latest = max(latest, machine.latestTime)
  }

  /// Replaces the ends by those of another process. The latest time does not decrease.
  mutating func update(_ other: ApprovalEnds) {
    ends = other.ends
    latest = max(latest, other.latest)
  }

  /// The time by which approvals with an end are judged. Never decreases.
  mutating func time(now: Instant) -> Instant {
    latest = max(latest, now)
    return latest
  }

  mutating func hasEnded(_ handle: Handle, now: Instant) -> Bool {
    guard let end = ends[handle] else { return false }
    return end <= time(now: now)
  }
}

extension AppSession {
  /// Whether the handle, in canonical form, is known. An approval that has ended does not count,
  /// even before the device reports the end.
  package nonisolated func isKnown(_ handle: Handle) -> Bool {
    known.withLock { $0.contains(handle) }
      && !ends.withLock { $0.hasEnded(handle, now: clock()) }
  }
}
