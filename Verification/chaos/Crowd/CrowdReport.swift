import Foundation

/// The crowd's part of a report.
extension CrowdChecks {
  func json(seconds: Double) -> [String: Any] {
    [
      "facts": facts, "events": events, "commands": rates.total,
      "commandsPerSecond": rates.mean(first: seconds).rounded(),
      "commandsPerSecondMedian": rates.quantile(0.5, first: seconds) as Any? ?? NSNull(),
      "verdicts": Dictionary(uniqueKeysWithValues: rows.map { ($0.checker, $0.text) }),
    ]
  }

  /// One line about the commands per second while faults were injected.
  func rateLine(seconds: Double) -> String {
    let median = rates.quantile(0.5, first: seconds) ?? 0
    let mean = rates.mean(first: seconds)
    return "\(rates.total) commands of the crowd: \(Int(mean)) per second under faults, "
      + "median second \(Int(median)); \(facts) facts, \(events) events"
  }
}

extension CrowdChecks.Row {
  var text: String {
    guard let example else { return "ok in \(ok) families" }
    return "ok in \(ok) families, not in \(other); first: \(example)"
  }
}
