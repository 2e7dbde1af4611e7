import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The relay's disk. Synced batches survive a power loss; unsynced ones may be lost.
///
/// Batches are atomic, as in the SQLite store: recovery drops a torn batch by its checksum.
final class RelayDisk {
  struct Family {
    var events: [StoredEvent] = []
    var cursors: [StoredCursor] = []
    /// Snapshots with their checksums at write time; the last one is the newest.
    var snapshots: [(snapshot: StoredSnapshot, sum: UInt32)] = []
    /// Passcode locks; the last one is the newest.
    var passcodeLocks: [StoredPasscodeLock] = []
  }

  private(set) var families: [FamilyID: Family] = [:]
  /// Batches that are written but not synced.
  private var unsynced: [Batch] = []
  /// The damaged event, with its original and its checksum.
  private var damaged: (family: FamilyID, index: Int, sum: UInt32, before: StoredEvent)?
  var fault: DiskFault?
  /// Whether a commit syncs. With the `fsync` mutant only a periodic event syncs.
  var syncs = true
  /// Whether a sync has failed. Until the next start, later syncs then leave out what it left out.
  private var hasForgotten = false

  /// Writes a batch without syncing it.
  ///
  /// - Parameter random: Draws whether a failed write has written the batch.
  func write(_ batch: Batch, _ random: inout SeededRandom) throws(StoreError) {
    switch fault {
    case .full: throw .full
    case .write:
      if random.chance(50) { put(batch) }
      throw .io("write")
    default: put(batch)
    }
  }

  private func put(_ batch: Batch) {
    for event in batch.events {
      families[event.family, default: Family()].events.append(event)
    }
    for cursor in batch.cursors {
      families[cursor.family, default: Family()].put(cursor)
    }
    for snapshot in batch.snapshots {
      families[snapshot.family, default: Family()].snapshots.append((snapshot, snapshot.checksum))
    }
    for lock in batch.passcodeLocks {
      families[lock.family, default: Family()].passcodeLocks.append(lock)
    }
    unsynced.append(batch)
  }

  /// Syncs the batches.
  ///
  /// - Parameter ignoringErrors: Whether a failed sync is taken for a success (`sync-error`).
  func sync(ignoringErrors: Bool = false) throws(StoreError) {
    if fault == .sync {
      hasForgotten = true
      guard ignoringErrors else { throw .io("sync") }
    }
    if !hasForgotten { unsynced = [] }
  }

  /// Opens the files. As in production, everything is written and synced again that a former process
  /// may have left in the memory of the system.
  func open() throws(StoreError) {
    if fault == .read || !unsynced.isEmpty && (fault == .write || fault == .sync) {
      throw .io("open")
    }
    unsynced = []
    hasForgotten = false
  }

  /// Loses a random suffix of the unsynced batches.
  func losePower(_ random: inout SeededRandom) {
    let kept = unsynced.isEmpty ? 0 : random.below(unsynced.count + 1)
    for batch in unsynced.dropFirst(kept).reversed() {
      for event in batch.events { families[event.family]?.events.removeLast() }
      for snapshot in batch.snapshots { families[snapshot.family]?.snapshots.removeLast() }
      for lock in batch.passcodeLocks { families[lock.family]?.passcodeLocks.removeLast() }
    }
    unsynced = []
    hasForgotten = false
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    guard let (snapshot, sum) = families[family]?.snapshots.last else { return nil }
    return snapshot.checksum == sum ? snapshot : nil
  }

  func load(_ family: FamilyID, after seq: UInt64 = 0) throws(StoreError) -> StoredFamily {
    guard let stored = families[family] else { return StoredFamily() }
    try check(family, after: seq)
    return StoredFamily(
      events: stored.events.filter { $0.seq > seq }, cursors: stored.cursors,
      passcodeLock: stored.passcodeLocks.last)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try check(family, after: seq)
    let all =
      families[family]?.events
      .filter { $0.audience == audience && $0.seq > seq && $0.seq <= last } ?? []
    return Page.cut(all, limit: limit, bytes: bytes)
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    let event = families[family]?.events.first { $0.command == command && $0.device == device }
    if let event, let damaged, damaged.family == family, damaged.before.seq == event.seq {
      throw .damaged("event")
    }
    return event
  }

  /// Replaces the content by a copy, as a backup or a dishonest operator does.
  func restore(_ copy: [FamilyID: Family]) {
    repair()
    unsynced = []
    families = copy
  }

  // MARK: damage

  /// Flips a bit of an event or snapshot.
  ///
  /// - Returns: `false` if the disk holds no event or is damaged already.
  func flip(_ random: inout SeededRandom) -> Bool {
    let choices = families.keys.sorted().filter { !families[$0]!.events.isEmpty }
    guard damaged == nil, !choices.isEmpty else { return false }
    let family = random.pick(choices)
    if let newest = families[family]!.snapshots.indices.last, random.chance(50) {
      random.flip(&families[family]!.snapshots[newest].snapshot.payload)
      return true
    }
    let index = random.below(families[family]!.events.count)
    let before = families[family]!.events[index]
    damaged = (family, index, before.checksum, before)
    random.flip(&families[family]!.events[index].payload)
    return true
  }

  /// Restores the damaged event, as an operator would from a backup.
  func repair() {
    guard let (family, index, _, before) = damaged else { return }
    families[family]?.events[index] = before
    damaged = nil
  }

  /// The family's events as they were written, without damage.
  func intactEvents(of family: FamilyID) -> [StoredEvent] {
    var events = families[family]?.events ?? []
    if let damaged, damaged.family == family { events[damaged.index] = damaged.before }
    return events
  }

  /// Verifies the checksum of the only event that can be damaged.
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
