import Histogram

/// Histograms of microseconds with three significant digits, up to one hour.
enum Latency {
  private static let most: UInt64 = 3_600_000_000

  static func histogram() -> Histogram<UInt64> { Histogram(highestTrackableValue: most) }

  /// The value, limited to one hour.
  static func bounded(_ value: UInt64) -> UInt64 { min(value, most) }
}

/// The percentiles of a histogram, in milliseconds.
struct Percentiles: Codable {
  var count: UInt64
  var p50: Double
  var p90: Double
  var p99: Double
  var p999: Double
  var max: Double

  init(_ histogram: Histogram<UInt64>) {
    func value(_ percentile: Double) -> Double {
      histogram.totalCount == 0 ? 0 : Double(histogram.valueAtPercentile(percentile)) / 1_000
    }
    count = histogram.totalCount
    p50 = value(50)
    p90 = value(90)
    p99 = value(99)
    p999 = value(99.9)
    max = value(100)
  }
}

/// A latency objective: a percentile and its limit.
struct Objective: Codable {
  var percentile: Double
  /// Milliseconds.
  var limit: Double

  /// Parses `p99=50ms` or `p99.9=2s`; `nil` for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "=")
    guard parts.count == 2, parts[0].hasPrefix("p"), let percentile = Double(parts[0].dropFirst()),
      (0..<100).contains(percentile)
    else { return nil }
    self.percentile = percentile
    if parts[1].hasSuffix("ms"), let value = Double(parts[1].dropLast(2)), value > 0 {
      limit = value
    } else if parts[1].hasSuffix("s"), let value = Double(parts[1].dropLast()), value > 0 {
      limit = value * 1_000
    } else {
      return nil
    }
  }

  var text: String { "p\(percentile.short) of approvals ≤ \(limit.short) ms" }

  func holds(_ histogram: Histogram<UInt64>) -> Bool {
    histogram.totalCount > 0
      && Double(histogram.valueAtPercentile(percentile)) / 1_000 <= limit
  }
}

extension Double {
  /// The value with about three significant digits.
  var short: String {
    switch abs(self) {
    case 0: "0"
    case ..<1: String(trimming: self, digits: 3)
    case ..<10: String(trimming: self, digits: 2)
    case ..<100: String(trimming: self, digits: 1)
    default: "\(Int(rounded()))"
    }
  }
}

extension String {
  fileprivate init(trimming value: Double, digits: Int) {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let rounded = (value * scale).rounded() / scale
    self = rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
