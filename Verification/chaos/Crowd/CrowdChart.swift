import Foundation

/// The crowd's commands per second over a run, as SVG, with the deaths of the relay.
struct CrowdChart {
  private static let left = 60.0
  private static let width = 1_100.0
  private static let height = 220.0
  private static let top = 34.0

  private let rates: [Int]
  private let deaths: [Double]
  private let highest: Double

  init(_ rates: CrowdRates, _ result: RunResult) {
    self.rates = rates.seconds
    deaths = result.faults.filter { $0.victims.contains("relay") }.map { $0.from - result.begin }
    highest = Double(max(100, rates.seconds.max() ?? 0))
  }

  private func x(_ second: Double) -> Double {
    Self.left + second / Double(max(1, rates.count)) * Self.width
  }

  private func y(_ rate: Double) -> Double { Self.top + (1 - rate / highest) * Self.height }

  var svg: String {
    let points = rates.enumerated().map { "\(n(x(Double($0) + 0.5))),\(n(y(Double($1))))" }
    let marks = deaths.map { at in
      "<line x1=\"\(n(x(at)))\" x2=\"\(n(x(at)))\" y1=\"\(n(Self.top))\" "
        + "y2=\"\(n(Self.top + Self.height))\" stroke=\"#c0392b\" opacity=\"0.25\"/>"
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1180 290" font-family="sans-serif" \
      font-size="11">
      <rect width="1180" height="290" fill="white"/>
      <text x="10" y="20" font-size="14">Commands of the crowd per second; red lines: faults of the \
      relay</text>
      \(marks.joined(separator: "\n"))
      \(grid.joined(separator: "\n"))
      <polyline fill="none" stroke="#2e86c1" points="\(points.joined(separator: " "))"/>
      </svg>

      """
  }

  private var grid: [String] {
    let rateStep = highest > 4_000 ? 1_000.0 : highest > 1_000 ? 500 : 100
    let rows = stride(from: 0, through: highest, by: rateStep).map { rate in
      "<line x1=\"\(n(Self.left))\" x2=\"\(n(Self.left + Self.width))\" y1=\"\(n(y(rate)))\" "
        + "y2=\"\(n(y(rate)))\" stroke=\"#dddddd\"/><text x=\"\(n(Self.left - 6))\" "
        + "y=\"\(n(y(rate) + 4))\" text-anchor=\"end\">\(Int(rate))</text>"
    }
    let secondStep = rates.count > 600 ? 120.0 : rates.count > 120 ? 30 : 10
    let columns = stride(from: 0, to: Double(rates.count), by: secondStep).map { second in
      "<text x=\"\(n(x(second)))\" y=\"\(n(Self.top + Self.height + 16))\" "
        + "text-anchor=\"middle\">\(Int(second)) s</text>"
    }
    return rows + columns
  }

  private func n(_ value: Double) -> String { String(format: "%.1f", value) }
}
