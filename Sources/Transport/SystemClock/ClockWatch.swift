package import FamilyModel

/// Sees when the wall clock is set back. Machines wait for moments of the wall clock: after a step back such
/// a moment is far away.
package struct ClockWatch {
  /// Milliseconds of a step that matters; clocks that are slewed stay below it.
  package static let step: Int64 = 1_000

  private var ahead: Int64?

  package init() {}

  /// Whether the wall clock went back since the last look.
  ///
  /// - Parameter monotonic: Nanoseconds of a clock that is never set.
  package mutating func isSetBack(_ wall: Instant, monotonic: UInt64) -> Bool {
    let now = wall.milliseconds - Int64(monotonic / 1_000_000)
    defer { ahead = now }
    return ahead.map { now < $0 - Self.step } ?? false
  }
}
