import Glibc

/// The clock of all deadlines in this module. The clock counts from the machine's start and is
/// never set.
public enum Monotonic {
  /// Nanoseconds since the machine's start.
  public static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
