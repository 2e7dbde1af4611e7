import Testing

/// The contract of `EventStore`, line by line. Each value states its rule.
enum Rule: String, CaseIterable, CustomTestStringConvertible {
  // Commits.
  case order = "M3: a family's events load in order, and apart from other families"
  case unknown = "every read of a family without records is empty"
  case sequence = "M3: an event that is not its family's next one is a conflict"
  case atomicity = "X2: a batch with a conflict stores nothing, and the next commit succeeds"
  case emptyBatch = "an empty batch changes nothing"
  case opacity = "every field is returned as it was stored"
  case visibility = "X2: every read sees each commit that returned"
  case durability = "X2: a reopened store has every commit, and continues its log"
  case model = "random batches and reads agree with the store in memory"

  // Reads.
  case tail = "a load after an event has the later events, all cursors and the lock"
  case lostEnd = "a load is damage if the log ends before the given event or a cursor"
  case pageLimit = "M5: a page ends at its limit, and states whether the audience has more"
  case pageBytes = "M5: a page ends before its payloads exceed a size, and has one event at least"
  case pageEnd = "M5: a page has no event after the last one of interest"
  case longHistory = "M5: a page inside a long history starts after the given event"
  case commands = "X2: a command's id always finds its event, in its family alone"
  case devices = "T1: an id of another device names another command"

  // Records that replace earlier ones.
  case cursors = "M4: a cursor replaces the one of its device and audience, and may move back"
  case snapshots = "a snapshot replaces the earlier one of its family"
  case passcodeLocks = "T8: a passcode lock replaces the earlier one of its family"

  // Abilities.
  case reader = "O8: a reader sees every commit that returned before its positions"
  case logReplay = "O6: the log's parts make an equal store"
  case logParts = "O6: a part of the log ends at its limits, and no part is behind the log"
  case logLocks = "O6: a lock follows its family's newest event, and no earlier one"
  case erasure = "O6: an erasure replaces payloads in every read, and nothing else"
  case erasureConflict = "O6: an erasure changes nothing if one event is not the stored one"
  case verification = "O2: a verification in parts reads each event once"
  case lacking = "an engine without an ability says so"

  var testDescription: String { rawValue }

  /// The ability that the rule is about; `nil`: the rule binds each engine.
  var ability: Engine.Ability? {
    switch self {
    case .durability: .durability
    case .reader: .reader
    case .logReplay, .logParts, .logLocks: .log
    case .erasure, .erasureConflict: .erasure
    case .verification: .verification
    default: nil
    }
  }

  /// Checks the rule with a new store of the engine.
  ///
  /// - Parameter mutant: The defect that the store has.
  /// - Returns: What breaks the rule; empty also if the engine lacks the ability.
  func violations(in engine: Engine, with mutant: Mutant? = nil) -> [String] {
    if let ability, !engine.abilities.contains(ability) { return [] }
    do {
      let trial = try Trial(engine, mutant)
      defer { trial.store.close() }
      do { try trial.check(self) } catch { trial.violate("\(error)") }
      return trial.violations
    } catch {
      return ["\(error)"]
    }
  }
}

extension Trial {
  /// Checks a rule, and collects what breaks it.
  fileprivate func check(_ rule: Rule) throws {
    switch rule {
    case .order: try keepsOrder()
    case .unknown: try findsNothing()
    case .sequence: try refusesOtherNumbers()
    case .atomicity: try storesNothingOfConflicts()
    case .emptyBatch: try acceptsEmptyBatch()
    case .opacity: try returnsAllFields()
    case .visibility: try showsEachCommit()
    case .durability: try keepsRecordsWhenReopened()
    case .model: try agreesWithModel(seed: 1)
    case .tail: try loadsTails()
    case .lostEnd: try findsLostEnd()
    case .pageLimit: try limitsPages()
    case .pageBytes: try limitsBytesOfPages()
    case .pageEnd: try endsPages()
    case .longHistory: try readsLongHistory()
    case .commands: try findsCommands()
    case .devices: try separatesDevices()
    case .cursors: try replacesCursors()
    case .snapshots: try replacesSnapshots()
    case .passcodeLocks: try replacesLocks()
    case .reader: try readsBesideCommits()
    case .logReplay: try replaysLog()
    case .logParts: try limitsPartsOfLog()
    case .logLocks: try shipsLocks()
    case .erasure: try erases()
    case .erasureConflict: try refusesErasure()
    case .verification: try verifiesInParts()
    case .lacking: try admitsLack()
    }
  }
}
