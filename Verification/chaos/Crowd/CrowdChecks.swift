import Credentials
import FamilyModel
import Foundation
import History
import ProcessCluster
import SQLiteStore
import Synchronization

/// The verdicts on a crowd: each family has a history of its own, from the workers' journals, the
/// recorder and the stores.
struct CrowdChecks {
  /// The verdict of a checker on the families.
  struct Row: Sendable {
    var checker: String
    var ok = 0
    var other = 0
    /// The first verdict other than `ok`.
    var example: String?
  }

  /// The checkers of what a crowd records. Its apps state no known handles and no ages.
  ///
  /// - Parameter isRestored: Whether the relay continued from an earlier copy; see ``GivenBack``.
  private static func checkers(isRestored: Bool) -> [any Checker] {
    if isRestored { return [RightfulEvents(), Converges()] }
    return [
      NothingLost(), NothingTwice(), OneDecision(), OneOrder(), AudienceKept(), RightfulEvents(),
      HandledOnce(), EverythingArrives(), OneTruth(),
    ]
  }

  private(set) var rows: [Row]
  private(set) var rates = CrowdRates()
  private(set) var facts = 0
  /// Events in the families' logs.
  private(set) var events = 0

  /// Checks all families, one on each core.
  ///
  /// - Parameter recorded: The recorder's facts: lost states, probes, the healing and the end.
  /// - Parameter begin: The workload's start on the recorder's clock.
  init(
    _ crowd: Crowd, _ recorded: History, isRestored: Bool, clock: RunClock, begin: Double,
    progress: @escaping @Sendable (Int) -> Void
  ) throws {
    let checkers = Self.checkers(isRestored: isRestored)
    rows = checkers.map { Row(checker: $0.name) }
    let evidence = try CrowdEvidence(crowd, recorded, clock)
    defer { evidence.close() }
    facts = evidence.facts
    let checks = Mutex((all: self, done: 0, error: (any Error)?.none))
    let families = evidence.devices.keys.sorted()
    DispatchQueue.concurrentPerform(iterations: families.count) { index in
      do {
        if checks.withLock({ $0.error != nil }) { return }
        let history = try evidence.history(of: families[index])
        let verdicts = history.verdicts(of: checkers)
        checks.withLock { checks in
          for (row, (_, verdict)) in verdicts.enumerated() {
            checks.all.rows[row].count(verdict, families[index])
          }
          checks.all.countCommands(history, clock, from: begin)
          progress(checks.done)
          checks.done += 1
        }
      } catch {
        checks.withLock { $0.error = error }
      }
    }
    if let error = checks.withLock({ $0.error }) { throw error }
    self = checks.withLock { $0.all }
  }

  private mutating func countCommands(_ history: History, _ clock: RunClock, from begin: Double) {
    var counted: Set<CommandName> = []
    for entry in history.entries {
      if case .stored = entry.fact { events += 1 }
      guard case .acknowledged(let device, let command, _) = entry.fact,
        counted.insert(CommandName(device.device, command)).inserted
      else { continue }
      rates.count(at: clock.seconds(entry.at) - begin)
    }
  }
}

extension CrowdChecks.Row {
  fileprivate mutating func count(_ verdict: Verdict, _ family: FamilyID) {
    switch verdict {
    case .ok: ok += 1
    case .unknown(let why):
      other += 1
      example = example ?? "family \(family.rawValue): unknown: \(why)"
    case .violated(let what, _):
      other += 1
      example = example ?? "family \(family.rawValue): \(what)"
    }
  }
}
