import FamilyModel

/// The only source of randomness in a run. The same seed gives the same sequence.
struct SeededRandom: Sendable {
  private var source: IDSource

  init(seed: UInt64) { source = IDSource(seed: seed) }

  mutating func next() -> UInt64 { source.next() }

  /// A number in `0..<count`.
  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  /// A duration in the range of milliseconds.
  mutating func milliseconds(_ range: ClosedRange<Int64>) -> Milliseconds {
    Milliseconds(range.lowerBound + Int64(next() % UInt64(range.count)))
  }

  /// A duration in the range.
  mutating func within(_ range: ClosedRange<Milliseconds>) -> Milliseconds {
    milliseconds(range.lowerBound.count...range.upperBound.count)
  }

  /// `true` with a probability of `percent`.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A random element.
  ///
  /// Precondition: `choices` is not empty.
  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}
