import Foundation
import Statistics
import TextTable

/// A run for people: tables in Markdown, and a picture beside them.
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
    try write(try result.json() + "\n", "report.json")
  }

  /// A few lines for the terminal.
  func summary(_ folder: URL) -> String {
    let hit = result.faults.count { !$0.hit.isEmpty }
    var lines = [
      "", "\(hit) faults, \(result.operations.count) operations, \(result.facts) facts",
      Table.render(result.verdicts.map { [$0.checker, $0.text] }),
    ]
    lines += result.findings.map { "finding: \($0)" }
    lines += result.skipped.sorted { $0.key < $1.key }.map { "skipped: \($0.key): \($0.value)" }
    if let converged = result.converged {
      lines.append(
        "everything was everywhere \(text(converged - result.healed)) s after the healing")
    } else {
      lines.append("not everything was everywhere in time")
    }
    lines.append("report: \(folder.path)/report.md")
    lines.append(result.hasFailed ? "FAILED. Again: \(result.command)" : "Nothing was lost.")
    return lines.joined(separator: "\n")
  }

  private var markdown: String {
    """
    # Chaos, seed \(result.seed)

    \(result.families) families with \(result.devices) devices, as real processes on one machine, for \
    \(Int(result.seconds)) seconds. \(result.hasFailed ? "**It failed.**" : "Nothing was lost.")

    ![operations and faults over time](timeline.svg)

    Again: `\(result.command)` (the seed draws the faults and what people want; what meets what also depends \
    on the machine).

    ## Verdicts

    \(table(["checker", "verdict"], result.verdicts.map { [$0.checker, $0.text] }))
    \(result.facts) facts were noted. \(convergence)
    \(result.findings.map { "- Finding: \($0)\n" }.joined())
    ## Faults

    Time to recover: seconds from the fault's end until everybody who was hit had, on each device, what was \
    said in the family after it, whatever other faults came meanwhile.

    \(table(["fault", "what", "injected", "p50", "p99", "max"], faultRows))
    \(result.skipped.sorted { $0.key < $1.key }.map { "- Not possible here: \($0.key): \($0.value)\n" }.joined())
    ## Operations

    Unknown: whoever did it was cut off, or killed, before the outcome came.

    \(table(["operation", "done", "refused", "unknown"], operationRows))
    """
  }

  private var convergence: String {
    result.converged.map {
      "After the healing everything was everywhere in \(text($0 - result.healed)) s."
    } ?? "After the healing not everything was everywhere in time."
  }

  private var faultRows: [[String]] {
    let rows = Fault.Kind.allCases.compactMap { kind -> [String]? in
      let count = result.faults.count { $0.fault.kind == kind && !$0.hit.isEmpty }
      guard count > 0 else { return nil }
      return [kind.rawValue, kind.meaning, "\(count)"] + times(result.recoveries(kind))
    }
    let all = result.faults.count { !$0.hit.isEmpty }
    return rows + [["all", "", "\(all)"] + times(result.recoveries())]
  }

  private func times(_ values: [Double]) -> [String] {
    [0.5, 0.99, 1].map { part in values.quantile(part).map(text) ?? "" }
  }

  private var operationRows: [[String]] {
    Set(result.operations.map(\.kind)).sorted().map { kind in
      let some = result.operations.filter { $0.kind == kind }
      return [kind]
        + [Operation.Outcome.ok, .refused, .unknown].map { outcome in
          "\(some.count { $0.outcome == outcome })"
        }
    }
  }

  private func text(_ seconds: Double) -> String { String(format: "%.2f", seconds) }

  private func table(_ head: [String], _ rows: [[String]]) -> String {
    let lines = [head, head.map { _ in "---" }] + rows
    return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n") + "\n"
  }
}
