import FamilyModel
import Foundation
import Simulation
import TextTable

/// Statistics over many runs.
struct Totals {
  var runs = 0
  var violated = 0
  private var firstViolated: UInt64?
  private var familyDays = 0.0
  private var steps = 0
  private var faults = 0
  private var events = 0
  private var dispatchedEvents = 0
  private var slowest: (seed: UInt64, recovery: Milliseconds) = (0, .milliseconds(-1))
  private var recoveries = Milliseconds.zero
  private var checkers: [String: Int] = [:]
  /// The number of runs that reached each rare path.
  private var probes: [Probe: Int] = [:]
  private var names: [String] = []
  var seconds = 0.0

  mutating func add(_ result: Simulation.Result) {
    runs += 1
    familyDays += result.familyDays
    steps += result.steps
    faults += result.faults
    events += result.events
    dispatchedEvents += result.dispatchedEvents
    recoveries += result.recovery
    if result.recovery > slowest.recovery { slowest = (result.seed, result.recovery) }
    for probe in result.probes { probes[probe, default: 0] += 1 }
    names = result.verdicts.map(\.name)
    for (name, _) in result.violations { checkers[name, default: 0] += 1 }
    guard !result.violations.isEmpty else { return }
    violated += 1
    firstViolated = min(firstViolated ?? .max, result.seed)
  }

  /// The rare paths that no run has reached.
  var unreached: [Probe] { Probe.allCases.filter { probes[$0] == nil } }

  var table: String {
    let rows = [
      ["runs", "\(runs)"], ["family-days", String(format: "%.0f", familyDays)],
      ["family-days per second", String(format: "%.0f", familyDays / max(seconds, 0.001))],
      ["seconds", String(format: "%.1f", seconds)],
      ["steps", "\(steps)"], ["– faults", "\(faults)"],
      ["messages, timers and starts", "\(dispatchedEvents)"], ["events in logs", "\(events)"],
      ["recovery, mean", "\((recoveries / max(runs, 1)).count) ms"],
      ["recovery, longest", "\(slowest.recovery.count) ms (seed \(slowest.seed))"],
      ["runs with violations", "\(violated)"],
    ]
    let verdicts = names.map { ["  \($0)", "\(checkers[$0] ?? 0)"] }
    let paths = Probe.allCases.map { ["  \($0.rawValue)", "\(probes[$0] ?? 0)"] }
    return Table.render(rows + verdicts + [["runs that reach a rare path", ""]] + paths)
  }

  func json(trace: TraceHash?) throws -> String {
    var object: [String: Any] = [
      "runs": runs, "violated": violated, "familyDays": familyDays, "seconds": seconds,
      "steps": steps, "faults": faults, "happenings": dispatchedEvents, "events": events,
      "recoveryMeanMilliseconds": (recoveries / max(runs, 1)).count,
      "recoveryLongestMilliseconds": slowest.recovery.count, "checkers": checkers,
      "probes": Dictionary(
        uniqueKeysWithValues: Probe.allCases.map { ($0.rawValue, probes[$0] ?? 0) }),
    ]
    if let firstViolated { object["firstViolated"] = firstViolated }
    if let trace { object["trace"] = String(trace.value, radix: 16) }
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }
}
