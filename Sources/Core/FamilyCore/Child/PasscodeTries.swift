public import FamilyModel

/// The tries of the passcode on one device (A4). They are counted before they are checked, and durably: a
/// kill, or a restart, makes none of them undone.
public struct PasscodeTries: Hashable, Sendable {
  /// Wrong tries since the last right one.
  public var count: UInt32
  /// Nobody can type before.
  public var notBefore: Instant
  /// Tries that were counted.
  public init(count: UInt32 = 0, notBefore: Instant = Instant(milliseconds: 0)) {
    self.count = count
    self.notBefore = notBefore
  }

  /// Milliseconds until the next try; no clock that was set back makes it longer than the longest.
  func remainingWait(now: Instant) -> Int64 {
    let left = notBefore.milliseconds - now.milliseconds
    return max(0, min(left, Timing.passcodeDelays.last!))
  }

  mutating func countAttempt(now: Instant) {
    count += 1
    let index = min(Int(count), Timing.passcodeDelays.count - 1)
    notBefore = now + Timing.passcodeDelays[index]
  }
}
