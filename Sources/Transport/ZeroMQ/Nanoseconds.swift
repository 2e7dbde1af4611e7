/// A duration of the monotonic clock in nanoseconds, never negative.
///
/// All arithmetic saturates: a difference below zero is zero, and an excessive duration is the
/// longest one.
public struct Nanoseconds: Hashable, Comparable, Codable, Sendable {
  /// The number of nanoseconds, for encodings.
  public var count: UInt64
  /// The duration of `count` nanoseconds.
  @inlinable public init(_ count: UInt64) { self.count = count }

  /// No time.
  @inlinable public static var zero: Nanoseconds { Nanoseconds(0) }

  /// The duration of this many nanoseconds.
  @inlinable public static func nanoseconds(_ count: some BinaryInteger) -> Nanoseconds {
    Nanoseconds(UInt64(clamping: count))
  }
  /// The duration of this many microseconds.
  @inlinable public static func microseconds(_ count: some BinaryInteger) -> Nanoseconds {
    .nanoseconds(count) * 1_000
  }
  /// The duration of this many milliseconds.
  @inlinable public static func milliseconds(_ count: some BinaryInteger) -> Nanoseconds {
    .nanoseconds(count) * 1_000_000
  }
  /// The duration of this many seconds.
  @inlinable public static func seconds(_ count: some BinaryInteger) -> Nanoseconds {
    .nanoseconds(count) * 1_000_000_000
  }
  /// The duration of a number of seconds with a fraction. Precondition: the number is finite.
  @inlinable public static func seconds(_ seconds: Double) -> Nanoseconds {
    Nanoseconds(UInt64(min(max(seconds, 0) * 1e9, 18_446_744_073_709_549_568)))
  }

  /// The duration in seconds.
  @inlinable public var seconds: Double { Double(count) / 1e9 }
  /// Whole milliseconds, rounded down.
  @inlinable public var milliseconds: UInt64 { count / 1_000_000 }
  /// Whole milliseconds, rounded up, for the timeouts of libzmq and the kernel.
  var millisecondsRoundedUp: UInt64 { (self + Nanoseconds(999_999)).milliseconds }
}

// MARK: Arithmetic

extension Nanoseconds {
  @inlinable public static func < (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count < b.count }

  @inlinable public static func + (a: Nanoseconds, b: Nanoseconds) -> Nanoseconds {
    let (sum, overflow) = a.count.addingReportingOverflow(b.count)
    return Nanoseconds(overflow ? .max : sum)
  }

  @inlinable public static func - (a: Nanoseconds, b: Nanoseconds) -> Nanoseconds {
    Nanoseconds(a.count > b.count ? a.count - b.count : 0)
  }

  /// Precondition: `b` is not negative.
  @inlinable public static func * (a: Nanoseconds, b: Int) -> Nanoseconds {
    let (product, overflow) = a.count.multipliedReportingOverflow(by: UInt64(b))
    return Nanoseconds(overflow ? .max : product)
  }

  /// The quotient, rounded down. Precondition: `b` is positive.
  @inlinable public static func / (a: Nanoseconds, b: Int) -> Nanoseconds {
    Nanoseconds(a.count / UInt64(b))
  }

  /// How many times `b` fits into `a`, rounded down. Precondition: `b` is not zero.
  @inlinable public static func / (a: Nanoseconds, b: Nanoseconds) -> UInt64 { a.count / b.count }
}

// MARK: Duration

extension Nanoseconds {
  /// The duration, rounded down, or zero if it is negative; saturates.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
  }
}

extension Duration {
  /// The duration of the monotonic clock as one of the standard library, for sleeps.
  public init(_ duration: Nanoseconds) {
    self = .nanoseconds(Int64(clamping: duration.count))
  }
}
