/// A moment of wall-clock time, in milliseconds since 1970-01-01T00:00:00Z.
public struct Instant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970.
  public var milliseconds: Int64
  /// The moment `milliseconds` after the start of 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  public static func < (a: Instant, b: Instant) -> Bool { a.milliseconds < b.milliseconds }
  /// The moment `b` milliseconds later; saturates.
  public static func + (a: Instant, b: Int64) -> Instant {
    let (sum, overflow) = a.milliseconds.addingReportingOverflow(b)
    return Instant(milliseconds: overflow ? (b < 0 ? .min : .max) : sum)
  }
}
