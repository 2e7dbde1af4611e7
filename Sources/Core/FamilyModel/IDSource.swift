/// A seeded generator of ids; the caller supplies the seed and the time.
///
/// The algorithm is SplitMix64 (Steele, Lea, Flood 2014). Two sources with one seed generate equal
/// ids, so a run can be replayed.
public struct IDSource: RandomNumberGenerator, Sendable {
  private var state: UInt64
  /// Creates a source that starts from `seed`.
  public init(seed: UInt64) { state = seed }

  /// Generates the next 64 pseudo-random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Generates an id that sorts by time: 48 bits of milliseconds, then 80 pseudo-random bits.
  public mutating func id(now: Instant) -> ID128 {
    let time = UInt64(truncatingIfNeeded: now.milliseconds) << 16
    return ID128(high: time | next() & 0xFFFF, low: next())
  }
}
