/// A moment of wall-clock time, in milliseconds since 1970-01-01T00:00:00Z.
public struct Instant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970, for encodings.
  public var milliseconds: Int64
  /// The moment `milliseconds` after the start of 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  public static func < (a: Instant, b: Instant) -> Bool { a.milliseconds < b.milliseconds }
  /// The moment that is `b` later; saturates.
  @inlinable
  public static func + (a: Instant, b: Milliseconds) -> Instant {
    Instant(milliseconds: (Milliseconds(a.milliseconds) + b).count)
  }
  /// The moment that is `b` earlier; saturates.
  @inlinable
  public static func - (a: Instant, b: Milliseconds) -> Instant {
    Instant(milliseconds: (Milliseconds(a.milliseconds) - b).count)
  }
  /// The duration from `b` to `a`, negative if `b` is later; saturates.
  @inlinable
  public static func - (a: Instant, b: Instant) -> Milliseconds {
    Milliseconds(a.milliseconds) - Milliseconds(b.milliseconds)
  }
}
