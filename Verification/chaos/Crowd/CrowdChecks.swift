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

  /// Checks all families.
  ///
  /// - Parameter recorded: The recorder's facts: lost states, probes, the healing and the end.
  /// - Parameter begin: The workload's start on the recorder's clock.
  init(
    _ crowd: Crowd, _ recorded: History, isRestored: Bool, clock: RunClock, begin: Double,
    progress: (Int) -> Void
  ) throws {
    let judge = Judge(Self.checkers(isRestored: isRestored))
    rows = []
    let journals = try RecordedFacts(crowd.plan.names.indices.map(crowd.journal))
    facts = journals.count
    let ofRecorder = RecorderFacts(recorded)
    var stores: [String: SQLiteAgentStore] = [:]
    for name in crowd.plan.names {
      stores[name] = try SQLiteAgentStore(
        path: crowd.layout.agent(name).appendingPathComponent("agent.sqlite").path)
    }
    let relay = try SQLiteEventStore(
      path: crowd.layout.relay.appendingPathComponent("relay.sqlite").path)
    defer {
      for store in stores.values { store.close() }
      relay.close()
    }
    let families = Dictionary(grouping: try crowd.devices()) { $0.credential.address.family }
    for (number, family) in families.keys.sorted().enumerated() {
      progress(number)
      var entries = journals.facts(of: family).map { ($0.fact, clock.instant($0.at)) }
      countCommands(entries, clock, from: begin)
      // The sort is stable.
      entries = (entries + ofRecorder.facts(of: family)).sorted { $0.at < $1.at }
      var history = History()
      for (fact, at) in entries { history.record(fact, at: at) }
      var opened: OpenedEvents = [:]
      for (agent, credential) in families[family]! {
        for fact in try Fact.holdings(of: credential, in: stores[agent]!, &opened) {
          history.record(fact, at: clock.now)
        }
      }
      let log = try Fact.log(of: family, in: relay, opened)
      events += log.count - 1
      for fact in log { history.record(fact, at: clock.now) }
      history.record(.storeRead, at: clock.now)
      judge.judge(history, family)
    }
    rows = judge.rows
  }

  private mutating func countCommands(
    _ entries: [(fact: Fact, at: Instant)], _ clock: RunClock, from begin: Double
  ) {
    var counted: Set<CommandName> = []
    for (fact, at) in entries {
      guard case .acknowledged(let device, let command, _) = fact,
        counted.insert(CommandName(device.device, command)).inserted
      else { continue }
      rates.count(at: clock.seconds(at) - begin)
    }
  }
}

/// Judges histories on a thread of its own, while the next ones are read.
private final class Judge: Sendable {
  /// Histories that may wait. Each takes some megabytes.
  private static let waiting = 2

  private let checkers: [any Checker]
  private let verdicts: Mutex<[CrowdChecks.Row]>
  private let queue = DispatchQueue(label: "judge")
  private let slots = DispatchSemaphore(value: waiting)

  init(_ checkers: [any Checker]) {
    self.checkers = checkers
    verdicts = Mutex(checkers.map { CrowdChecks.Row(checker: $0.name) })
  }

  /// The verdicts on all histories.
  var rows: [CrowdChecks.Row] {
    queue.sync { verdicts.withLock { $0 } }
  }

  /// Begins to judge a family's history.
  func judge(_ history: History, _ family: FamilyID) {
    slots.wait()
    queue.async { [self] in
      let all = history.verdicts(of: checkers)
      verdicts.withLock { rows in
        for (index, (_, verdict)) in all.enumerated() { rows[index].count(verdict, family) }
      }
      slots.signal()
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

/// The recorder's facts about the families of a crowd.
private struct RecorderFacts {
  private var ofFamily: [FamilyID: [(fact: Fact, at: Instant)]] = [:]
  private var ofAll: [(fact: Fact, at: Instant)] = []

  init(_ history: History) {
    for entry in history.entries {
      switch entry.fact {
      case .lostState(let device), .acknowledged(let device, _, _):
        ofFamily[device.family, default: []].append((entry.fact, entry.at))
      case .appLostState(let app):
        ofFamily[app.device.family, default: []].append((entry.fact, entry.at))
      case .healed, .converged, .notConverged: ofAll.append((entry.fact, entry.at))
      default: break
      }
    }
  }

  /// The facts of the family, then those of all families.
  func facts(of family: FamilyID) -> [(fact: Fact, at: Instant)] {
    (ofFamily[family] ?? []) + ofAll
  }
}
