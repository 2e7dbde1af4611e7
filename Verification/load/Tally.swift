import Histogram

/// The histograms of one stretch of time.
struct Tally {
  private var histograms: [Measure: [Kind: Histogram<UInt64>]] = [:]

  mutating func add(_ second: IntervalReport) {
    for item in second.measured {
      for (value, count) in zip(item.values, item.counts) {
        histograms[item.measure, default: [:]][item.kind, default: Latency.histogram()]
          .record(Latency.bounded(value), count: count)
      }
    }
  }

  /// The histogram of a measure for one kind, or for all kinds.
  func histogram(_ measure: Measure, _ kind: Kind? = nil) -> Histogram<UInt64> {
    var all = Latency.histogram()
    for (found, histogram) in histograms[measure] ?? [:] where kind == nil || kind == found {
      all.add(histogram)
    }
    return all
  }
}
