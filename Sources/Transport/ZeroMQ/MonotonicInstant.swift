import Glibc

/// A moment of the clock of all deadlines in this module, in nanoseconds since the machine's start.
/// The clock is never set.
public struct MonotonicInstant: Hashable, Comparable, Codable, Sendable {
  /// Nanoseconds since the machine's start, for encodings.
  public var nanoseconds: UInt64
  /// The moment `nanoseconds` after the machine's start.
  @inlinable public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// The machine's start.
  @inlinable public static var machineStart: MonotonicInstant { MonotonicInstant(nanoseconds: 0) }
  /// A moment that is never reached.
  @inlinable public static var distantFuture: MonotonicInstant {
    MonotonicInstant(nanoseconds: .max)
  }

  /// The present moment.
  public static var now: MonotonicInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(
      nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// The time since the machine's start.
  @inlinable public var uptime: Nanoseconds { Nanoseconds(nanoseconds) }
}

// MARK: Arithmetic

extension MonotonicInstant {
  @inlinable public static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool {
    a.nanoseconds < b.nanoseconds
  }

  /// The moment that is `b` later, at most ``distantFuture``.
  @inlinable public static func + (a: MonotonicInstant, b: Nanoseconds) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: (a.uptime + b).count)
  }

  /// The moment that is `b` earlier, at least ``machineStart``.
  @inlinable public static func - (a: MonotonicInstant, b: Nanoseconds) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: (a.uptime - b).count)
  }

  /// The duration from `b` to `a`; zero if `b` is later.
  @inlinable public static func - (a: MonotonicInstant, b: MonotonicInstant) -> Nanoseconds {
    a.uptime - b.uptime
  }
}
