import Histogram

/// All that was measured in some stretch of time.
struct Tally {
  private var histograms: [Measure: [Kind: Histogram<UInt64>]] = [:]

  mutating func add(_ second: Second) {
    for item in second.measured {
      for (value, count) in zip(item.values, item.counts) {
        histograms[item.measure, default: [:]][item.kind, default: Latency.histogram()]
          .record(Latency.bounded(value), count: count)
      }
    }
  }

  /// All kinds together, or one of them.
  func histogram(_ measure: Measure, _ kind: Kind? = nil) -> Histogram<UInt64> {
    var all = Latency.histogram()
    for (found, histogram) in histograms[measure] ?? [:] where kind == nil || kind == found {
      all.add(histogram)
    }
    return all
  }
}
