import Foundation
import History
import Statistics

typealias CheckerVerdict = Verdict

/// What came of a run.
struct RunResult: Sendable {
  struct Verdict: Sendable {
    var checker: String
    var text: String
    var isViolated: Bool

    init(_ checker: String, _ verdict: CheckerVerdict) {
      self.checker = checker
      isViolated = verdict.isViolated
      text =
        switch verdict {
        case .ok: "ok"
        case .unknown(let why): "unknown: \(why)"
        case .violated(let what, let at): "violated: \(what)\(at.map { " (fact \($0))" } ?? "")"
        }
    }
  }
  var seed: UInt64
  var seconds: Double
  var families: Int
  var devices: Int
  var operations: [Operation]
  var faults: [Injected]
  /// What must not be, and no checker sees.
  var findings: [String]
  var verdicts: [Verdict]
  /// Entries of the history.
  var facts: Int
  /// Seconds after the start, when faults began, when everything was healed, when all was everywhere.
  var begin: Double
  var healed: Double
  var converged: Double?
  var command = ""
  /// Kinds of faults that could not be made here, and why.
  var skipped: [String: String] = [:]

  var hasFailed: Bool {
    !findings.isEmpty || converged == nil || verdicts.contains { $0.text != "ok" }
  }

  /// The times to recovery, in seconds.
  func recoveries(_ kind: Fault.Kind? = nil) -> [Double] {
    faults.filter { kind == nil || $0.fault.kind == kind }.compactMap(\.recovery)
  }

  func json() throws -> String {
    var kinds: [String: Any] = [:]
    for kind in Fault.Kind.allCases {
      let some = faults.filter { $0.fault.kind == kind && !$0.hit.isEmpty }
      guard !some.isEmpty else { continue }
      let times = recoveries(kind)
      kinds[kind.rawValue] = [
        "injected": some.count, "recoverySecondsP50": times.quantile(0.5) as Any? ?? NSNull(),
        "recoverySecondsP99": times.quantile(0.99) as Any? ?? NSNull(),
        "recoverySecondsMax": times.max() as Any? ?? NSNull(),
      ]
    }
    var done: [String: [String: Int]] = [:]
    for operation in operations {
      done[operation.kind, default: [:]][operation.outcome.rawValue, default: 0] += 1
    }
    let value: [String: Any] = [
      "seed": seed, "seconds": seconds, "families": families, "devices": devices,
      "command": command, "faults": kinds, "skipped": skipped, "operations": done, "facts": facts,
      "verdicts": Dictionary(
        verdicts.map { ($0.checker, $0.text) }, uniquingKeysWith: { first, _ in first }),
      "findings": findings, "secondsToConverge": converged.map { $0 - healed } as Any? ?? NSNull(),
      "failed": hasFailed,
    ]
    let data = try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .prettyPrinted])
    return String(decoding: data, as: UTF8.self)
  }
}
