import FamilyModel
import RelayStore

/// A store with a defect.
final class MutantStore: EventStore {
  private let base: any EventStore
  private let mutant: Mutant
  private var commits = 0
  /// The batch that a late store commits with the next one.
  private var late = Batch()

  init(_ base: any EventStore, _ mutant: Mutant) {
    self.base = base
    self.mutant = mutant
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try base.snapshot(of: family)
  }

  func openReader() throws(StoreError) -> (any EventReader)? { try base.openReader() }

  func positions(of families: [FamilyID]) -> ReadPositions {
    mutant == .losesPositions ? ReadPositions() : base.positions(of: families)
  }

  func close() { base.close() }
}

// MARK: Commits

extension MutantStore {
  func commit(_ batch: Batch) throws(StoreError) {
    commits += 1
    switch mutant {
    case .hidesConflicts: do throws(StoreError) { try base.commit(batch) } catch {}
    case .storesHalfABatch:
      for event in batch.events { try base.commit(StoreTests.batch([event])) }
      try base.commit(batch.withoutEvents)
    case .storesCursorsOfConflicts:
      try base.commit(batch.withoutEvents)
      try base.commit(batch)
    case .refusesEmptyBatches where batch.isEmpty: throw .conflict
    case .commitsLate:
      try base.commit(late)
      late = batch
    case .losesCommits where commits % 50 == 0: break
    default: try base.commit(altered(batch))
    }
  }

  private func altered(_ batch: Batch) throws(StoreError) -> Batch {
    var altered = batch
    switch mutant {
    case .cutsZeros:
      for index in altered.events.indices {
        let payload = altered.events[index].payload
        altered.events[index].payload = Array(payload.prefix { $0 != 0 })
      }
    case .keepsHighestCursor:
      altered.cursors = []
      for new in batch.cursors {
        let stored = try base.load(new.family).cursors.first {
          $0.device == new.device && $0.cursor.audience == new.cursor.audience
        }
        if stored?.cursor.delivered ?? 0 <= new.cursor.delivered { altered.cursors.append(new) }
      }
    case .keepsFirstSnapshot: altered.snapshots = batch.snapshots.reversed()
    case .keepsFirstLock: altered.passcodeLocks = batch.passcodeLocks.reversed()
    default: break
    }
    return altered
  }
}

extension Batch {
  fileprivate var withoutEvents: Batch {
    var rest = self
    rest.events = []
    return rest
  }
}

// MARK: Reads

extension MutantStore {
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    switch mutant {
    case .ignoresStart: return try base.load(family, after: 0)
    case .ignoresLostEnd:
      do throws(StoreError) { return try base.load(family, after: seq) } catch {
        return StoredFamily()
      }
    default: break
    }
    var stored = try base.load(family, after: seq)
    if mutant == .descends { stored.events.reverse() }
    if mutant == .misses, stored == StoredFamily() { throw .damaged("no such family") }
    return stored
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    var page = try base.events(
      of: family, audience, after: mutant == .startsAtMark ? seq - seq % 64 : seq,
      through: mutant == .passesLast ? .max : last,
      limit: mutant == .addsAnEvent ? limit + 1 : limit,
      bytes: mutant == .addsBytes ? bytes + 1 : bytes)
    if mutant == .deniesMore { page.more = false }
    if mutant == .leavesOutLargeEvents { page.events.removeAll { $0.payload.count > bytes } }
    return page
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    let searched = mutant == .searchesFirstDevice ? DeviceID(1) : device
    guard let found = try base.event(of: command, by: searched, in: family) else { return nil }
    if mutant == .forgetsMarkedCommands, found.seq % 64 == 0 { return nil }
    return found
  }
}

// MARK: Abilities

extension MutantStore {
  func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification {
    let start = mutant == .verifiesTwice ? max(0, position - 1) : position
    return try base.verify(after: start, limit: limit)
  }

  func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress {
    try base.copyPart(to: path, room: room)
  }

  func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart {
    if mutant == .inventsLog { return LogPart(position: position, newest: 0) }
    let longer = mutant == .shipsLongParts ? limit + 1 : limit
    var part = try base.log(after: position, limit: longer, bytes: bytes)
    guard mutant == .shipsNoLocks || mutant == .shipsLocksEarly else { return part }
    let records = part.records
    part.records = []
    for case .event(let event) in records {
      part.records.append(.event(event))
      guard mutant == .shipsLocksEarly else { continue }
      if let lock = try base.load(event.family).passcodeLock {
        part.records.append(.passcodeLock(lock))
      }
    }
    return part
  }

  func replace(_ events: [Int: StoredEvent]) throws(StoreError) {
    switch mutant {
    case .erasesNothing: break
    case .erasesHalf:
      for number in events.keys.sorted() { try base.replace([number: events[number]!]) }
    default: try base.replace(events)
    }
  }
}
