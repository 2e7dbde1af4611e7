import Foundation
import History
import Statistics

typealias CheckerVerdict = Verdict

/// The outcome of a run.
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
        case .violated(let violation, let at):
          "violated: \(violation)\(at.map { " (fact \($0))" } ?? "")"
        }
    }
  }
  var seed: UInt64
  var seconds: Double
  var families: Int
  var devices: Int
  var operations: [Operation]
  var faults: [InjectedFault]
  /// Failures that no checker of histories can see.
  var findings: [String]
  var verdicts: [Verdict]
  /// The number of recorded facts.
  var facts: Int
  /// Seconds after the start at which faults began, ended, and the system converged.
  var begin: Double
  var healed: Double
  var converged: Double?
  /// The verdicts on the crowd; `nil` without one.
  var crowd: CrowdChecks?
  /// The machine on which a crowd ran; `nil` without one.
  var machine: MachineSpeed?
  /// How often each version of the programs was started; `nil` with one version.
  var versions: String?
  var command = ""
  /// Kinds of faults that this machine cannot inject, with the reasons.
  var skipped: [String: String] = [:]

  var hasFailed: Bool {
    !findings.isEmpty || converged == nil || verdicts.contains { $0.text != "ok" }
      || crowd?.rows.contains { $0.other > 0 } ?? false
  }

  /// The recovery times of a kind of fault, or of all faults, in seconds.
  func recoveries(_ kind: Fault.Kind? = nil) -> [Double] {
    faults.filter { kind == nil || $0.fault.kind == kind }.compactMap(\.recovery)
  }

  func json() throws -> String {
    var kinds: [String: Any] = [:]
    for kind in Fault.Kind.allCases {
      let injected = faults.filter { $0.fault.kind == kind && !$0.victims.isEmpty }
      guard !injected.isEmpty else { continue }
      let times = recoveries(kind)
      kinds[kind.rawValue] = [
        "injected": injected.count, "recoverySecondsP50": times.quantile(0.5) as Any? ?? NSNull(),
        "recoverySecondsP99": times.quantile(0.99) as Any? ?? NSNull(),
        "recoverySecondsMax": times.max() as Any? ?? NSNull(),
      ]
    }
    var done: [String: [String: Int]] = [:]
    for operation in operations {
      done[operation.kind, default: [:]][operation.outcome.rawValue, default: 0] += 1
    }
    var value: [String: Any] = [
      "seed": seed, "seconds": seconds, "families": families, "devices": devices,
      "command": command, "faults": kinds, "skipped": skipped, "operations": done, "facts": facts,
      "verdicts": Dictionary(
        verdicts.map { ($0.checker, $0.text) }, uniquingKeysWith: { first, _ in first }),
      "findings": findings, "secondsToConverge": converged.map { $0 - healed } as Any? ?? NSNull(),
      "failed": hasFailed,
    ]
    if let versions { value["versions"] = versions }
    if let crowd { value["crowd"] = crowd.json(seconds: seconds) }
    if let machine {
      value["cores"] = machine.cores
      value["verificationsPerSecondOfCore"] = machine.verifications.rounded()
    }
    let data = try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .prettyPrinted])
    return String(decoding: data, as: UTF8.self)
  }
}
