package import FamilyModel

/// Detects that the wall clock was set back. Machines' deadlines are moments of the wall clock, and
/// a step back would postpone them by the size of the step.
package struct ClockWatch {
  /// The smallest step that is detected. Slewed clocks stay below it.
  package static let step = Milliseconds.seconds(1)

  /// The wall-clock time of the machine's start, as of the last call.
  private var lastStart: Instant?

  package init() {}

  /// Whether the wall clock was set back since the last call.
  ///
  /// - Parameter uptime: The time since the machine's start, by a clock that is never set.
  package mutating func isSetBack(_ wall: Instant, uptime: Milliseconds) -> Bool {
    let start = wall - uptime
    defer { lastStart = start }
    return lastStart.map { start < $0 - Self.step } ?? false
  }
}
