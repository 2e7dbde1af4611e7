/// A duration of wall-clock time in whole milliseconds. A negative duration goes back in time.
///
/// All arithmetic saturates: an excessive duration becomes the longest one.
public struct Milliseconds: Hashable, Comparable, Sendable {
  /// The number of milliseconds, for encodings.
  public var count: Int64
  /// The duration of `count` milliseconds.
  @inlinable public init(_ count: Int64) { self.count = count }

  /// No time.
  @inlinable public static var zero: Milliseconds { Milliseconds(0) }
  /// The longest duration.
  @inlinable public static var max: Milliseconds { Milliseconds(.max) }

  /// The duration of this many milliseconds.
  @inlinable public static func milliseconds(_ count: some BinaryInteger) -> Milliseconds {
    Milliseconds(Int64(clamping: count))
  }
  /// The duration of this many seconds.
  @inlinable public static func seconds(_ count: some BinaryInteger) -> Milliseconds {
    .milliseconds(count) * 1_000
  }
  /// The duration of this many minutes.
  @inlinable public static func minutes(_ count: some BinaryInteger) -> Milliseconds {
    .milliseconds(count) * 60_000
  }
  /// The duration of this many hours.
  @inlinable public static func hours(_ count: some BinaryInteger) -> Milliseconds {
    .milliseconds(count) * 3_600_000
  }
  /// The duration of this many days of 24 hours.
  @inlinable public static func days(_ count: some BinaryInteger) -> Milliseconds {
    .milliseconds(count) * 86_400_000
  }
}

// MARK: Arithmetic

extension Milliseconds {
  @inlinable public static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }
  @inlinable public static prefix func - (a: Milliseconds) -> Milliseconds { .zero - a }

  @inlinable public static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
    let (sum, overflow) = a.count.addingReportingOverflow(b.count)
    return Milliseconds(overflow ? (b.count < 0 ? .min : .max) : sum)
  }

  @inlinable public static func - (a: Milliseconds, b: Milliseconds) -> Milliseconds {
    let (difference, overflow) = a.count.subtractingReportingOverflow(b.count)
    return Milliseconds(overflow ? (b.count < 0 ? .max : .min) : difference)
  }

  @inlinable public static func += (a: inout Milliseconds, b: Milliseconds) { a = a + b }

  @inlinable public static func * (a: Milliseconds, b: Int) -> Milliseconds {
    let (product, overflow) = a.count.multipliedReportingOverflow(by: Int64(b))
    return Milliseconds(overflow ? ((a.count < 0) == (b < 0) ? .max : .min) : product)
  }

  /// The quotient, rounded toward zero. Precondition: `b` is positive.
  @inlinable public static func / (a: Milliseconds, b: Int) -> Milliseconds {
    Milliseconds(a.count / Int64(b))
  }

  /// How many times `b` fits into `a`, rounded toward zero. Precondition: `b` is positive.
  @inlinable public static func / (a: Milliseconds, b: Milliseconds) -> Int64 { a.count / b.count }
}

// MARK: Duration

extension Milliseconds {
  /// The duration, rounded toward zero; saturates.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .seconds(seconds) + Milliseconds(attoseconds / 1_000_000_000_000_000)
  }
}

extension Duration {
  /// The duration of the wall clock as one of the standard library, for sleeps.
  public init(_ duration: Milliseconds) { self = .milliseconds(duration.count) }
}
