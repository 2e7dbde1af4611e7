/// The text that monitoring systems read: OpenMetrics 1.0, or the older format of Prometheus.
public enum MetricsText {
  /// The formats.
  public enum Format: Sendable {
    case openMetrics, prometheus

    /// The format that an HTTP `Accept` header permits.
    public init(accepting header: String?) {
      self = header?.contains("application/openmetrics-text") == true ? .openMetrics : .prometheus
    }

    /// The media type of the text.
    public var mediaType: String {
      switch self {
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
      }
    }
  }

  /// The text for the relay's statistics; `nil`: the relay does not answer.
  public static func render(_ statistics: RelayStatistics?, _ format: Format) -> String {
    let up = Metric(
      Metric.prefix + "up", .gauge, "1 if the relay answered this request, otherwise 0."
    ) { _ in .number(1) }
    var text = render(up, statistics == nil ? .number(0) : .number(1), format)
    if let statistics {
      for metric in Metric.all { text += render(metric, metric.value(statistics), format) }
    }
    return format == .openMetrics ? text + "# EOF\n" : text
  }

  private static func render(_ metric: Metric, _ value: Metric.Value, _ format: Format) -> String {
    let sample =
      switch metric.kind {
      case .counter: metric.name + "_total"
      case .info: metric.name + "_info"
      default: metric.name
      }
    let family = format == .openMetrics ? metric.name : sample
    let kind = format == .prometheus && metric.kind == .info ? .gauge : metric.kind
    var text = "# TYPE \(family) \(kind.rawValue)\n"
    if format == .openMetrics, !metric.unit.isEmpty { text += "# UNIT \(family) \(metric.unit)\n" }
    text += "# HELP \(family) \(metric.help)\n"
    switch value {
    case .number(let number): text += "\(sample) \(self.text(number))\n"
    case .labelled(let label, let values):
      for (name, number) in values {
        text += "\(sample){\(label)=\"\(name)\"} \(self.text(number))\n"
      }
    case .info(let label, let value): text += "\(sample){\(label)=\"\(value)\"} 1\n"
    case .histogram(let histogram): text += render(metric.name, histogram)
    }
    return text
  }

  private static func render(_ name: String, _ histogram: DurationHistogram) -> String {
    var text = ""
    var seen = 0
    for (index, count) in histogram.counts.enumerated() {
      seen += count
      let isLast = index == DurationHistogram.bounds.count
      let bound = isLast ? "+Inf" : self.text(DurationHistogram.bounds[index])
      text += "\(name)_bucket{le=\"\(bound)\"} \(seen)\n"
    }
    return text + "\(name)_sum \(self.text(histogram.sum))\n\(name)_count \(seen)\n"
  }

  /// The shortest text of the number. Whole numbers of levels have no fraction.
  private static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
  }
}
