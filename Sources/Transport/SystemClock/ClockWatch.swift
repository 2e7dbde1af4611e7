package import FamilyModel

/// Detects that the wall clock was set back. Machines' deadlines are moments of the wall clock, and
/// a step back would postpone them by the size of the step.
package struct ClockWatch {
  /// The smallest step that is detected, in milliseconds. Slewed clocks stay below it.
  package static let step: Int64 = 1_000

  /// The wall clock minus the monotonic clock at the last call, in milliseconds.
  private var lastOffset: Int64?

  package init() {}

  /// Whether the wall clock was set back since the last call.
  ///
  /// - Parameter monotonic: Nanoseconds of a clock that is never set.
  package mutating func isSetBack(_ wall: Instant, monotonic: UInt64) -> Bool {
    let offset = wall.milliseconds - Int64(monotonic / 1_000_000)
    defer { lastOffset = offset }
    return lastOffset.map { offset < $0 - Self.step } ?? false
  }
}
