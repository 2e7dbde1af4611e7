import Foundation

/// The results of a load as a self-contained HTML file.
struct HTMLReport {
  private let results: Results
  private let date: Date

  /// - Parameter date: When the load ended.
  init(_ results: Results, at date: Date) {
    self.results = results
    self.date = date
  }

  var text: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><title>permission-relay: a load</title>
    <meta name="viewport" content="width=device-width">
    <style>
    \(Self.style)
    </style></head><body>
    <h1>\(headline.html)</h1>
    \(summary)
    \(pictures)
    <h2>Rates</h2>
    <p>Latencies of approvals in ms, from the planned time until the app has handled the answer; busy cores.</p>
    \(rates)
    <h2>Latencies\(ofAllRates), ms</h2>
    <p>Each latency begins at the planned time, so a stall counts against every question that it delays.</p>
    \(latencies)
    <h2>Checks</h2>\(checks)
    </body></html>

    """
  }

  private static let style = [
    "body { font: 15px/1.45 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; }",
    "h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }",
    "table { border-collapse: collapse; font-size: 13px; margin: .5rem 0; }",
    "th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #d0d7de; }",
    "th:first-child, td:first-child { text-align: left; }",
    "svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: #57606a; }",
    ".grid { stroke: #eaeef2; } .limit { stroke: #d1242f; stroke-dasharray: 5 4; }",
    ".legend { font-size: 13px; } .good { color: #1a7f37; } .bad { color: #d1242f; font-weight: 600; }",
  ].joined(separator: "\n")

  private var headline: String {
    let set = results.settings
    if let rate = results.highestRate, let objective = set.objective {
      return "\(rate.short) questions per second with \(objective.text)"
    }
    return "\(set.families) families, \(set.rate.short) questions per second"
  }

  private var summary: String {
    let (set, setUp, machine) = (results.settings, results.setUp, results.machine)
    let verdict =
      results.failures.isEmpty
      ? "<p class=\"good\">All checks passed.</p>"
      : results.failures.map { "<p class=\"bad\">\($0.html)</p>" }.joined()
    return """
      \(verdict)
      <p>\(date.formatted(.iso8601)). \(duration) \(set.families) families of \(set.guardians + 1) devices in \(set.workers) worker processes; mix \(set.mix.text.html); seed \(set.seed).
      \(machine.cores) cores (\(machine.processor.html)), \(Int(machine.memoryBytes >> 30)) GiB, Linux \(machine.kernel.html).
      Set-up: \(setUp.foundingSeconds.short) s until the relay had all families on disk, \(setUp.connectingSeconds.short) s until every device was attached, \(setUp.settlingSeconds.short) s until the relay was idle.
      Memory per family: \(setUp.workerBytesPerFamily.short) bytes in the workers, \(setUp.relayBytesPerFamily.short) in the relay.</p>
      """
  }

  private var duration: String {
    let seconds = "\(results.settings.seconds.short) s"
    return results.steps.count > 1
      ? "\(results.steps.count) rates of \(seconds) each." : "Questions for \(seconds)."
  }

  /// The suffix of headings that cover several rates.
  private var ofAllRates: String { results.steps.count > 1 ? " of all rates together" : "" }

  // MARK: charts

  private var pictures: String {
    [throughput, overTime, rateOverTime, percentiles, cpu, memory]
      .map { "<h2>\($0.title.html)</h2><p class=\"legend\">\($0.legend)</p>\($0.svg)" }
      .joined(separator: "\n")
  }

  private var limit: (value: Double, name: String)? {
    results.settings.objective.map { ($0.limit, $0.text) }
  }

  /// Throughput against latency: one point per rate of a ramp, or per second of a single rate.
  private var throughput: Chart {
    let steps = results.steps.sorted { $0.offered < $1.offered }
    guard steps.count > 1 else {
      let moments = results.moments.filter { $0.measured > 0 }
        .sorted { $0.finished < $1.finished }
      return Chart(
        title: "Throughput against latency, second by second",
        x: "approvals finished in the second", y: "latency, ms",
        lines: [
          .init(
            name: "max", points: moments.map { (Double($0.finished), $0.max) }, isJoined: false),
          .init(
            name: "p99", points: moments.map { (Double($0.finished), $0.p99) }, isJoined: false),
          .init(
            name: "p50", points: moments.map { (Double($0.finished), $0.p50) }, isJoined: false),
        ], yScale: .logarithmic, limit: limit, isMarked: true)
    }
    return Chart(
      title: "Throughput against latency", x: "offered questions per second", y: "latency, ms",
      lines: [
        .init(name: "p99.9", points: steps.map { ($0.offered, $0.approvals.p999) }),
        .init(name: "p99", points: steps.map { ($0.offered, $0.approvals.p99) }),
        .init(name: "p50", points: steps.map { ($0.offered, $0.approvals.p50) }),
      ], yScale: .logarithmic, limit: limit, isMarked: true)
  }

  private var overTime: Chart {
    let moments = results.moments.filter { $0.measured > 0 }
    return Chart(
      title: "Latency over time", x: "seconds", y: "latency, ms",
      lines: [
        .init(name: "max", points: moments.map { ($0.second, $0.max) }),
        .init(name: "p99", points: moments.map { ($0.second, $0.p99) }),
        .init(name: "p50", points: moments.map { ($0.second, $0.p50) }),
      ], yScale: .logarithmic, limit: limit)
  }

  private var rateOverTime: Chart {
    Chart(
      title: "Approvals over time", x: "seconds", y: "questions",
      lines: [
        .init(
          name: "finished in the second",
          points: results.moments.map { ($0.second, Double($0.finished)) }),
        .init(name: "in flight", points: results.moments.map { ($0.second, Double($0.underway)) }),
      ])
  }

  private var percentiles: Chart {
    let marks = [
      (0.0, "0%"), (50, "50%"), (90, "90%"), (99, "99%"), (99.9, "99.9%"), (99.99, "99.99%"),
      (99.999, "99.999%"),
    ]
    func position(_ percentile: Double) -> Double { 100 / max(100 - percentile, 0.0001) }
    return Chart(
      title: "Percentiles\(ofAllRates)", x: "percentile of approvals", y: "latency, ms",
      lines: [
        .init(
          name: "approvals",
          points: results.distribution.filter { $0.percentile < 100 }
            .map { (position($0.percentile), $0.milliseconds) })
      ], xScale: .logarithmic, yScale: .logarithmic, limit: limit,
      xNames: marks.map { (at: position($0.0), name: $0.1) })
  }

  private var cpu: Chart {
    Chart(
      title: "CPU per process", x: "seconds", y: "cores busy",
      lines: results.processes.map { process in
        .init(name: process.name, points: process.samples.map { ($0.second, $0.cores) })
      })
  }

  private var memory: Chart {
    Chart(
      title: "Memory per process", x: "seconds", y: "MiB resident",
      lines: results.processes.map { process in
        .init(
          name: process.name,
          points: process.samples.map { ($0.second, Double($0.bytes) / 1_048_576) })
      })
  }

  // MARK: tables

  private func table(_ head: [String], _ rows: [[String]]) -> String {
    func row(_ cells: [String], _ tag: String) -> String {
      "<tr>" + cells.map { "<\(tag)>\($0.html)</\(tag)>" }.joined() + "</tr>"
    }
    return "<table>" + row(head, "th") + rows.map { row($0, "td") }.joined() + "</table>"
  }

  private var rates: String {
    table(
      [
        "offered/s", "approvals/s", "p50", "p90", "p99", "p99.9", "max", "relay cores",
        "worker cores",
      ] + (results.settings.objective == nil ? [] : ["objective"]),
      results.steps.map { step in
        [step.offered.short, step.achieved.short] + TextReport.cells(step.approvals)
          + [step.relayCores.short, step.workerCores.short]
          + (step.holds.map { [$0 ? "holds" : "does not hold"] } ?? [])
      })
  }

  private var latencies: String {
    table(
      ["", "count", "p50", "p90", "p99", "p99.9", "max"],
      TextReport.rows(results).map {
        [$0.name, "\($0.times.count)"] + TextReport.cells($0.times)
      })
  }

  private var checks: String {
    let checks = results.checks
    let rows = checks.rows.map { [$0.name, "\($0.ok)", "\($0.unknown)", "\($0.violated)"] }
    return table(["families by verdict", "ok", "unknown", "violated"], rows)
      + "<p>Complete histories of \(checks.families) of \(results.settings.families) families, \(checks.facts) facts. Acknowledged commands compared with the relay's store: \(checks.acknowledgements).</p>"
      + checks.examples.map { "<p class=\"bad\">\($0.html)</p>" }.joined()
  }
}
