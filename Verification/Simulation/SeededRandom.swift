import FamilyModel

/// The run's only randomness. The same seed gives the same throws.
struct SeededRandom: Sendable {
  private var source: IDSource

  init(seed: UInt64) { source = IDSource(seed: seed) }

  mutating func next() -> UInt64 { source.next() }

  /// 0 ..< count.
  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  /// A number of the range.
  mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// True `percent` times out of a hundred.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// One of them; there is at least one.
  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}
