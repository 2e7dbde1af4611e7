/// A histogram of durations with fixed bounds, from a tenth of a millisecond to ten seconds.
public struct DurationHistogram: Codable, Sendable, Hashable {
  /// The upper bounds of the buckets in seconds. A last bucket has no bound.
  public static let bounds = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
    10,
  ]

  /// Durations by bucket.
  public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  /// The sum of all durations in seconds.
  public private(set) var sum = 0.0

  /// An empty histogram.
  public init() {}

  /// The number of durations.
  public var count: Int { counts.reduce(0, +) }

  /// Adds a duration in seconds.
  public mutating func record(_ seconds: Double) {
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }

  /// The upper bound of the bucket that has this part of the durations, in seconds; `nil` if there
  /// are none. The last bucket answers with infinity.
  public func quantile(_ part: Double) -> Double? {
    let total = count
    guard total > 0 else { return nil }
    var seen = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if Double(seen) >= part * Double(total), count > 0 {
        return index < Self.bounds.count ? Self.bounds[index] : .infinity
      }
    }
    return .infinity
  }

  /// The durations that were added after `earlier`.
  public func since(_ earlier: DurationHistogram) -> DurationHistogram {
    var result = self
    for index in counts.indices { result.counts[index] -= earlier.counts[index] }
    result.sum -= earlier.sum
    return result
  }
}
