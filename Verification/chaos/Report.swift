import Foundation
import Statistics
import TextTable

/// The report of a run: Markdown with tables, an SVG timeline and JSON.
struct Report {
  private let result: RunResult
  init(_ result: RunResult) { self.result = result }

  func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    func write(_ text: String, _ name: String) throws {
      try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    try write(markdown, "report.md")
    try write(Timeline(result).svg, "timeline.svg")
    if let crowd = result.crowd { try write(CrowdChart(crowd.rates, result).svg, "crowd.svg") }
    try write(try result.json() + "\n", "report.json")
  }

  /// The summary for the terminal.
  func summary(_ folder: URL) -> String {
    let count = result.faults.count { !$0.victims.isEmpty }
    var lines = [
      "", "\(count) faults, \(result.operations.count) operations, \(result.facts) facts",
      Table.render(result.verdicts.map { [$0.checker, $0.text] }),
    ]
    if let crowd = result.crowd {
      lines.append(rates(of: crowd))
      lines.append(Table.render(crowd.rows.map { [$0.checker, $0.text] }))
    }
    if let versions = result.versions { lines.append(versions) }
    lines += result.findings.map { "finding: \($0)" }
    lines += result.skipped.sorted { $0.key < $1.key }.map { "skipped: \($0.key): \($0.value)" }
    if let converged = result.converged {
      lines.append(
        "converged \(text(converged - result.healed)) s after the healing")
    } else {
      lines.append("not converged in time")
    }
    lines.append("report: \(folder.path)/report.md")
    lines.append(result.hasFailed ? "FAILED. To repeat: \(result.command)" : "Nothing was lost.")
    return lines.joined(separator: "\n")
  }

  private var markdown: String {
    """
    # Chaos, seed \(result.seed)

    \(result.families) families with \(result.devices) devices, as real processes on one machine, for \
    \(Int(result.seconds)) seconds. \(result.hasFailed ? "**The run failed.**" : "Nothing was lost.")

    ![operations and faults over time](timeline.svg)

    To repeat: `\(result.command)`. The seed draws the faults and the people's actions; their interleaving also \
    depends on the machine.

    ## Verdicts

    \(table(["checker", "verdict"], result.verdicts.map { [$0.checker, $0.text] }))
    \(result.facts) facts were recorded. \(convergence)
    \(notes)
    \(crowd)
    ## Faults

    Time to recover: seconds from the fault's end until each affected device had an event that was posted \
    afterwards, despite other faults meanwhile.

    \(table(["fault", "description", "injected", "p50", "p99", "max"], faultRows))
    \(result.skipped.sorted { $0.key < $1.key }.map { "- Skipped: \($0.key): \($0.value)\n" }.joined())
    ## Operations

    Unknown: the client was disconnected or killed before it learned the outcome.

    \(table(["operation", "done", "refused", "unknown"], operationRows))
    """
  }

  private var notes: String {
    ((result.versions.map { ["- Versions: \($0)\n"] } ?? [])
      + result.findings.map { "- Finding: \($0)\n" }).joined()
  }

  private var crowd: String {
    guard let crowd = result.crowd else { return "" }
    return """
      ## The crowd

      \(rates(of: crowd)).\(activity(of: crowd))

      ![commands per second over time](crowd.svg)

      \(table(["checker", "verdict"], crowd.rows.map { [$0.checker, $0.text] }))
      """
  }

  private func rates(of crowd: CrowdChecks) -> String {
    crowd.rateLine(seconds: result.seconds) + (result.machine.map { "; \($0.line)" } ?? "")
  }

  private func activity(of crowd: CrowdChecks) -> String {
    guard crowd.rates.total >= RelayActivity.busy else { return "" }
    return """
       The shards of the relay and its background copies worked:
      a run of \(RelayActivity.busy) commands without them fails.
      """
  }

  private var convergence: String {
    result.converged.map {
      "After the healing the system converged in \(text($0 - result.healed)) s."
    } ?? "After the healing the system did not converge in time."
  }

  private var faultRows: [[String]] {
    let rows = Fault.Kind.allCases.compactMap { kind -> [String]? in
      let count = result.faults.count { $0.fault.kind == kind && !$0.victims.isEmpty }
      guard count > 0 else { return nil }
      return [kind.rawValue, kind.meaning, "\(count)"] + times(result.recoveries(kind))
    }
    let all = result.faults.count { !$0.victims.isEmpty }
    return rows + [["all", "", "\(all)"] + times(result.recoveries())]
  }

  private func times(_ values: [Double]) -> [String] {
    [0.5, 0.99, 1].map { part in values.quantile(part).map(text) ?? "" }
  }

  private var operationRows: [[String]] {
    Set(result.operations.map(\.kind)).sorted().map { kind in
      let operations = result.operations.filter { $0.kind == kind }
      return [kind]
        + [Operation.Outcome.ok, .refused, .unknown].map { outcome in
          "\(operations.count { $0.outcome == outcome })"
        }
    }
  }

  private func text(_ seconds: Double) -> String { String(format: "%.2f", seconds) }

  private func table(_ head: [String], _ rows: [[String]]) -> String {
    let lines = [head, head.map { _ in "---" }] + rows
    return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n") + "\n"
  }
}
