import Foundation
import Testing

@testable import RelayOperation

@Suite struct MetricsTextTests {
  private let statistics: RelayStatistics = {
    var statistics = RelayStatistics()
    statistics.version = "0.1.0"
    statistics.counters = ["requests": 12, "events": 3]
    statistics.refusals = [503: 2, 200: 1]
    statistics.commits.record(0.0008)
    statistics.commits.record(0.3)
    statistics.commits.record(60)
    return statistics
  }()

  @Test("O9: the text has each metric once, with its type and help before its samples")
  func wellFormed() {
    for format in [MetricsText.Format.openMetrics, .prometheus] {
      let lines = MetricsText.render(statistics, format).split(separator: "\n")
      let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
      #expect(types.count == Metric.all.count + 1)
      #expect(Set(types).count == types.count)
      #expect((lines.last == "# EOF") == (format == .openMetrics))
      var family = ""
      for line in lines where line != "# EOF" {
        if line.hasPrefix("# TYPE ") {
          family = String(line.split(separator: " ")[2])
        } else if !line.hasPrefix("#") {
          #expect(line.hasPrefix(family), "\(line) is not of \(family)")
        }
      }
    }
  }

  @Test("O9: counters, labels and histograms have their values")
  func values() {
    let text = MetricsText.render(statistics, .openMetrics)
    for line in [
      "permission_relay_up 1", "permission_relay_build_info{version=\"0.1.0\"} 1",
      "permission_relay_requests_total 12", "permission_relay_refusals_total{problem=\"200\"} 1",
      "permission_relay_refusals_total{problem=\"503\"} 2",
      "permission_relay_commit_duration_seconds_bucket{le=\"0.001\"} 1",
      "permission_relay_commit_duration_seconds_bucket{le=\"0.5\"} 2",
      "permission_relay_commit_duration_seconds_bucket{le=\"10\"} 2",
      "permission_relay_commit_duration_seconds_bucket{le=\"+Inf\"} 3",
      "permission_relay_commit_duration_seconds_sum 60.3008",
      "permission_relay_commit_duration_seconds_count 3",
    ] {
      #expect(text.contains(line + "\n"), "\(line)")
    }
  }

  @Test("O9: a relay that does not answer has one metric: up is 0")
  func down() {
    let text = MetricsText.render(nil, .prometheus)
    #expect(text.contains("permission_relay_up 0\n"))
    #expect(!text.contains("requests"))
  }

  @Test("O9: the format follows the Accept header")
  func accept() {
    typealias Format = MetricsText.Format
    #expect(Format(accepting: nil) == .prometheus)
    #expect(Format(accepting: "text/plain") == .prometheus)
    #expect(
      Format(accepting: "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        == .openMetrics)
  }

  @Test("O9: docs/Operations.md lists each metric with its meaning, and no other")
  func documented() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/Operations.md"), encoding: .utf8)
    for metric in Metric.all {
      let row = "| `\(metric.name)` | \(metric.kind.rawValue) | \(metric.help) |"
      let isListed = page.contains(row)
      #expect(isListed, "missing: \(row)")
    }
    let documented = page.matches(of: /\| `((?:permission_relay|process)_[a-z_]+)` \|/)
      .map { String($0.1) }
    #expect(Set(documented) == Set(Metric.all.map(\.name) + ["permission_relay_up"]))
  }
}

@Suite struct DurationHistogramTests {
  @Test("O9: quantiles are the bounds of their buckets")
  func quantiles() {
    var histogram = DurationHistogram()
    #expect(histogram.quantile(0.5) == nil)
    for _ in 0..<99 { histogram.record(0.002) }
    histogram.record(11)
    #expect(histogram.quantile(0.5) == 0.002_5)
    #expect(histogram.quantile(0.99) == 0.002_5)
    #expect(histogram.quantile(1) == .infinity)
    let before = histogram
    histogram.record(0.02)
    #expect(histogram.since(before).quantile(1) == 0.025)
    #expect(histogram.since(before).count == 1)
  }
}
