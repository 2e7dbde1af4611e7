import Foundation

/// A timeline of a run as SVG: faults by process above, operations by family below.
struct Timeline {
  private static let left = 150.0
  private static let width = 1_000.0
  private static let row = 16.0
  private static let colors: [Fault.Kind: String] = [
    .kill: "#c0392b", .stop: "#8e44ad", .storm: "#e74c3c", .cut: "#d35400", .slow: "#f1c40f",
    .blackHole: "#2c3e50", .oneWay: "#7f8c8d", .diskFull: "#16a085", .slowDisk: "#76d7c4",
    .clock: "#2980b9", .diskError: "#117864", .restoredCopy: "#6e2c00", .terminate: "#f5b041",
    .rollingRestart: "#b7950b",
    .powerLoss: "#000000", .damagedRelay: "#a04000", .damagedAgent: "#ca6f1e", .netem: "#27ae60",
  ]
  private static let outcomes: [Operation.Outcome: String] = [
    .ok: "#2e86c1", .refused: "#aab7b8", .unknown: "#c0392b",
  ]

  private let result: RunResult
  private let end: Double
  init(_ result: RunResult) {
    self.result = result
    end = max(1, (result.converged ?? result.healed) - result.begin)
  }

  private func x(_ seconds: Double) -> Double {
    Self.left + max(0, min(1, (seconds - result.begin) / end)) * Self.width
  }

  var svg: String {
    let processes = Set(result.faults.flatMap(\.victims).map(Self.process))
      .sorted { ($0 != "relay" ? 1 : 0, $0) < ($1 != "relay" ? 1 : 0, $1) }
    var parts: [String] = []
    var y = 40.0
    for process in processes {
      parts.append(label(process, y))
      for fault in result.faults
      where fault.victims.contains(where: { Self.process($0) == process }) {
        parts.append(bar(fault, y))
      }
      y += Self.row
    }
    y += 10
    for family in Set(result.operations.map(\.family)).sorted() {
      parts.append(label("family \(family)", y))
      for outcome in [Operation.Outcome.ok, .refused, .unknown] {
        let operations = result.operations.filter { $0.family == family && $0.outcome == outcome }
        parts.append(strokes(operations, Self.outcomes[outcome]!, y))
      }
      y += Self.row
    }
    y += 4
    parts.append(axis(y))
    parts.append(legend(y + 34))
    let height = Int(y + 84)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1180 \(height)" font-family="sans-serif" \
      font-size="11">
      <rect width="1180" height="\(height)" fill="white"/>
      <text x="10" y="20" font-size="14">Chaos, seed \(result.seed): \(result.faults.count) faults, \
      \(result.operations.count) operations</text>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  private static func process(_ name: String) -> String {
    name.replacingOccurrences(of: "*", with: "").replacingOccurrences(of: "-agent", with: "")
  }

  private func label(_ name: String, _ y: Double) -> String {
    """
    <text x="\(n(Self.left - 8))" y="\(n(y + 11))" text-anchor="end">\(name)</text>\
    <line x1="\(n(Self.left))" x2="\(n(Self.left + Self.width))" y1="\(n(y + 14))" y2="\(n(y + 14))" \
    stroke="#eeeeee"/>
    """
  }

  /// The bar of a fault, followed by a pale bar for its recovery.
  private func bar(_ fault: InjectedFault, _ y: Double) -> String {
    let color = Self.colors[fault.fault.kind]!
    let (from, to) = (x(fault.from), x(fault.to))
    let well = x(fault.to + (fault.recovery ?? 0))
    return """
      <rect x="\(n(to))" y="\(n(y + 5))" width="\(n(max(0, well - to)))" height="4" fill="\(color)" \
      opacity="0.3"/><rect x="\(n(from))" y="\(n(y + 1))" width="\(n(max(2, to - from)))" height="12" \
      fill="\(color)" opacity="0.8"><title>\(fault.fault.kind.rawValue)</title></rect>
      """
  }

  /// One path with a stroke at the end of each operation.
  private func strokes(_ operations: [Operation], _ color: String, _ y: Double) -> String {
    let path = operations.map { "M\(n(x($0.to))) \(n(y + 1))v11" }.joined()
    return "<path d=\"\(path)\" stroke=\"\(color)\" stroke-width=\"0.8\"/>"
  }

  private func axis(_ y: Double) -> String {
    let step = end > 240 ? 60.0 : end > 60 ? 20 : 5
    let ticks = stride(from: 0, through: end, by: step).map { second in
      let at = n(x(result.begin + second))
      return "<line x1=\"\(at)\" x2=\"\(at)\" y1=\"34\" y2=\"\(n(y))\" stroke=\"#dddddd\"/>"
        + "<text x=\"\(at)\" y=\"\(n(y + 12))\" text-anchor=\"middle\">\(Int(second)) s</text>"
    }
    let healed = n(x(result.healed))
    return ticks.joined() + "<line x1=\"\(healed)\" x2=\"\(healed)\" y1=\"30\" y2=\"\(n(y))\" "
      + "stroke=\"#27ae60\" stroke-dasharray=\"4 2\"/><text x=\"\(healed)\" y=\"28\" fill=\"#27ae60\" "
      + "text-anchor=\"end\">healed</text>"
  }

  private func legend(_ y: Double) -> String {
    let kinds = Fault.Kind.allCases.filter { kind in
      result.faults.contains { $0.fault.kind == kind }
    }
    var parts: [String] = []
    for (index, kind) in kinds.enumerated() {
      parts.append(entry(kind.rawValue, Self.colors[kind]!, index % 9, y + Double(index / 9) * 16))
    }
    let last = y + 32
    for (index, (name, outcome)) in [
      ("done", Operation.Outcome.ok), ("refused", .refused), ("unknown", .unknown),
    ].enumerated() {
      parts.append(entry(name, Self.outcomes[outcome]!, index, last))
    }
    return parts.joined()
  }

  private func entry(_ name: String, _ color: String, _ column: Int, _ y: Double) -> String {
    let at = 10 + Double(column) * 125
    return "<rect x=\"\(n(at))\" y=\"\(n(y - 9))\" width=\"10\" height=\"10\" fill=\"\(color)\"/>"
      + "<text x=\"\(n(at + 14))\" y=\"\(n(y))\">\(name)</text>"
  }

  private func n(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : String(format: "%.1f", value)
  }
}
