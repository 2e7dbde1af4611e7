public import FamilyModel

/// The passcode attempts on one device. Each attempt is counted durably before it is checked, so
/// that a kill or a restart undoes none of them.
public struct PasscodeTries: Hashable, Sendable {
  /// The number of attempts since the last right one.
  public var count: UInt32
  /// The time before which no attempt is accepted.
  public var notBefore: Instant
  /// Creates a count of attempts.
  public init(count: UInt32 = 0, notBefore: Instant = Instant(milliseconds: 0)) {
    self.count = count
    self.notBefore = notBefore
  }

  /// The time until the next attempt, bounded by the longest delay even after the clock was set
  /// back.
  func remainingWait(now: Instant) -> Milliseconds {
    max(.zero, min(notBefore - now, Timing.passcodeDelays.last!))
  }

  mutating func countAttempt(now: Instant) {
    count += 1
    let index = min(Int(count), Timing.passcodeDelays.count - 1)
    notBefore = now + Timing.passcodeDelays[index]
  }
}
