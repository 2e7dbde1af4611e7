import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The relay's disk: what was synced survives everything but damage, and the rest what its power does.
///
/// It has the semantics of the SQLite store: a batch is there as a whole or not at all. The last one of a
/// lost power may have been written in part: its sum is wrong, and recovery drops it.
final class RelayDisk: EventStore {
  struct Family {
    var events: [StoredEvent] = []
    var cursors: [StoredCursor] = []
    /// Each with the sum that it was written with; the last one is the newest.
    var snapshots: [(snapshot: StoredSnapshot, sum: UInt32)] = []
  }

  private(set) var families: [FamilyID: Family] = [:]
  /// Batches that were written and not synced.
  private var unsynced: [Batch] = []
  /// The event as it was before a bit of it changed, where one did.
  private var damaged: (family: FamilyID, index: Int, sum: UInt32, before: StoredEvent)?
  var isFull = false
  /// Whether `commit` syncs: the mutant leaves that to chance.
  var syncs = true

  func write(_ batch: Batch) throws(StoreError) {
    guard !isFull else { throw .full }
    for event in batch.events {
      families[event.family, default: Family()].events.append(event)
    }
    for cursor in batch.cursors {
      families[cursor.family, default: Family()].put(cursor)
    }
    for snapshot in batch.snapshots {
      families[snapshot.family, default: Family()].snapshots.append((snapshot, snapshot.checksum))
    }
    unsynced.append(batch)
  }

  func sync() { unsynced = [] }

  func commit(_ batch: Batch) throws(StoreError) {
    try write(batch)
    if syncs { sync() }
  }

  /// What was not synced may be gone, from some batch on.
  func losePower(_ dice: inout SeededRandom) {
    let kept = unsynced.isEmpty ? 0 : dice.below(unsynced.count + 1)
    for batch in unsynced.dropFirst(kept).reversed() {
      for event in batch.events { families[event.family]?.events.removeLast() }
      for snapshot in batch.snapshots { families[snapshot.family]?.snapshots.removeLast() }
    }
    unsynced = []
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    guard let (snapshot, sum) = families[family]?.snapshots.last else { return nil }
    return snapshot.checksum == sum ? snapshot : nil
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    guard let found = families[family] else { return StoredFamily() }
    try check(family, after: seq)
    return StoredFamily(
      events: found.events.filter { $0.seq > seq }, cursors: found.cursors)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, limit: Int, bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try check(family, after: seq)
    let all = families[family]?.events.filter { $0.audience == audience && $0.seq > seq } ?? []
    return Page.cut(all, limit: limit, bytes: bytes)
  }

  func seq(of command: CommandID, in family: FamilyID) throws(StoreError) -> UInt64? {
    families[family]?.events.first { $0.command == command }?.seq
  }

  func close() {}

  // MARK: damage

  /// Flips a bit of an event, or of a snapshot; tells whether there was one.
  func flip(_ dice: inout SeededRandom) -> Bool {
    let choices = families.keys.sorted().filter { !families[$0]!.events.isEmpty }
    guard damaged == nil, !choices.isEmpty else { return false }
    let family = dice.pick(choices)
    if let newest = families[family]!.snapshots.indices.last, dice.chance(50) {
      dice.flip(&families[family]!.snapshots[newest].snapshot.payload)
      return true
    }
    let index = dice.below(families[family]!.events.count)
    let before = families[family]!.events[index]
    damaged = (family, index, before.checksum, before)
    dice.flip(&families[family]!.events[index].payload)
    return true
  }

  /// Somebody restores the file from a backup.
  func repair() {
    guard let (family, index, _, before) = damaged else { return }
    families[family]?.events[index] = before
    damaged = nil
  }

  /// Sums are looked at where they can be wrong.
  private func check(_ family: FamilyID, after seq: UInt64) throws(StoreError) {
    guard let damaged, damaged.family == family, damaged.index >= seq,
      families[family]!.events[damaged.index].checksum != damaged.sum
    else { return }
    throw .damaged("event")
  }
}

extension SeededRandom {
  fileprivate mutating func flip(_ bytes: inout [UInt8]) {
    let byte = below(bytes.count)
    bytes[byte] ^= UInt8(1) << UInt8(below(8))
  }
}

extension RelayDisk.Family {
  mutating func put(_ cursor: StoredCursor) {
    let index = cursors.firstIndex {
      $0.device == cursor.device && $0.cursor.audience == cursor.cursor.audience
    }
    if let index { cursors[index] = cursor } else { cursors.append(cursor) }
  }
}

/// The disk of a device, or of an app: transactions, each synced before anybody hears of it. (The mutant
/// syncs now and then.)
struct Journal<Change: Sendable>: Sendable {
  /// Transactions after which the mutant syncs, as a checkpoint does.
  static var checkpoint: Int { 24 }

  /// All changes, in order.
  private(set) var changes: [Change] = []
  /// Where the transactions that are not synced begin.
  private var unsynced: [Int] = []

  mutating func append(_ new: [Change], syncs: Bool) {
    unsynced.append(changes.count)
    changes += new
    if syncs || unsynced.count >= Self.checkpoint { unsynced = [] }
  }

  /// What is not synced is gone, from some transaction on.
  mutating func losePower(_ dice: inout SeededRandom) {
    guard !unsynced.isEmpty else { return }
    let kept = dice.below(unsynced.count + 1)
    if kept < unsynced.count { changes.removeSubrange(unsynced[kept]...) }
    unsynced = []
  }

  mutating func wipe() {
    changes = []
    unsynced = []
  }
}

extension Journal<RecordChange> {
  /// What a device finds when it starts: the bytes, read again, in the order of their keys.
  func records() -> [DeviceRecord] {
    var records: [RecordKey: DeviceRecord] = [:]
    for change in changes {
      switch change {
      case .put(let record): records[record.key] = record
      case .delete(let key): records[key] = nil
      }
    }
    return records.map { (key: $0.key.bytes, value: $0.value.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { try! DeviceRecord.decode(key: $0.key, value: $0.value) }
  }
}

extension Journal<AppRecordChange> {
  /// What an app finds when it starts.
  func records() -> [AppRecord] {
    var records: [[UInt8]: [UInt8]] = [:]
    for change in changes {
      switch change {
      case .put(let record): records[record.key] = record.value
      case .remove(let record): records[record.key] = nil
      case .forgetAll:
        for key in records.keys where key.starts(with: AppRecord.knownPrefix) { records[key] = nil }
      }
    }
    return records.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { try! AppRecord.decode(key: $0.key, value: $0.value) }
  }
}
