/// A generator of ids; the caller supplies the time and the randomness.
///
/// The ids of a process come from the system's generator, so that nobody can predict them. Tests and
/// the simulator pass a seed: two sources with one seed generate equal ids, so a run can be replayed.
public struct IDSource: RandomNumberGenerator, Sendable {
  private enum Bits: Sendable {
    case generator(@Sendable () -> UInt64)
    /// The state of SplitMix64 (Steele, Lea, Flood 2014).
    case seeded(UInt64)
  }

  private var bits: Bits

  /// Creates a source of the generator's ids.
  ///
  /// - Parameter generator: Returns the next 64 random bits.
  public init(_ generator: @escaping @Sendable () -> UInt64) { bits = .generator(generator) }

  /// Creates a predictable source that starts from `seed`, for tests and replays. One id reveals all
  /// later ones.
  public init(seed: UInt64) { bits = .seeded(seed) }

  /// Generates the next 64 random bits.
  public mutating func next() -> UInt64 {
    switch bits {
    case .generator(let generator): return generator()
    case .seeded(let state):
      var z = state &+ 0x9E37_79B9_7F4A_7C15
      bits = .seeded(z)
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// Generates an id that sorts by time: 48 bits of milliseconds, then 80 random bits.
  public mutating func id(now: Instant) -> ID128 {
    let time = UInt64(truncatingIfNeeded: now.milliseconds) << 16
    return ID128(high: time | next() & 0xFFFF, low: next())
  }
}
