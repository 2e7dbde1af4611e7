/// A defect of an engine that one rule of the contract must find.
enum Mutant: CaseIterable {
  // Commits.
  case hidesConflicts, storesHalfABatch, storesCursorsOfConflicts, refusesEmptyBatches, cutsZeros
  case commitsLate, losesCommits, volatile
  // Reads.
  case descends, misses, ignoresStart, ignoresLostEnd
  case addsAnEvent, deniesMore, addsBytes, leavesOutLargeEvents, passesLast, startsAtMark
  case forgetsMarkedCommands, searchesFirstDevice
  // Records that replace earlier ones.
  case keepsHighestCursor, keepsFirstSnapshot, keepsFirstLock
  // Abilities.
  case losesPositions, shipsNoLocks, shipsLongParts, shipsLocksEarly, erasesNothing, erasesHalf
  case verifiesTwice, inventsLog

  /// The rule that the mutant breaks.
  var rule: Rule {
    switch self {
    case .hidesConflicts: .sequence
    case .storesHalfABatch, .storesCursorsOfConflicts: .atomicity
    case .refusesEmptyBatches: .emptyBatch
    case .cutsZeros: .opacity
    case .commitsLate: .visibility
    case .losesCommits: .model
    case .volatile: .durability
    case .descends: .order
    case .misses: .unknown
    case .ignoresStart: .tail
    case .ignoresLostEnd: .lostEnd
    case .addsAnEvent, .deniesMore: .pageLimit
    case .addsBytes, .leavesOutLargeEvents: .pageBytes
    case .passesLast: .pageEnd
    case .startsAtMark: .longHistory
    case .forgetsMarkedCommands: .commands
    case .searchesFirstDevice: .devices
    case .keepsHighestCursor: .cursors
    case .keepsFirstSnapshot: .snapshots
    case .keepsFirstLock: .passcodeLocks
    case .losesPositions: .reader
    case .shipsNoLocks: .logReplay
    case .shipsLongParts: .logParts
    case .shipsLocksEarly: .logLocks
    case .erasesNothing: .erasure
    case .erasesHalf: .erasureConflict
    case .verifiesTwice: .verification
    case .inventsLog: .lacking
    }
  }

  /// The engine whose store has the defect: memory, unless the rule is about an ability.
  var engine: Engine { rule.ability == nil ? .memory : .sqlite }
}
