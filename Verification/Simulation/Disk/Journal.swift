import FamilyCore
import FamilyModel
import RelayWire

/// The disk of a device or app. Each transaction is synced before its effects leave, except with
/// the `deviceFsync` mutant.
struct Journal<Change: Sendable>: Sendable {
  /// Unsynced transactions after which the mutant syncs, as a checkpoint does.
  static var checkpoint: Int { 24 }

  /// All changes in order.
  private(set) var changes: [Change] = []
  /// The first change of each unsynced transaction.
  private var unsynced: [Int] = []

  mutating func append(_ new: [Change], syncs: Bool) {
    unsynced.append(changes.count)
    changes += new
    if syncs || unsynced.count >= Self.checkpoint { unsynced = [] }
  }

  /// Loses a random suffix of the unsynced transactions.
  mutating func losePower(_ random: inout SeededRandom) {
    guard !unsynced.isEmpty else { return }
    let kept = random.below(unsynced.count + 1)
    if kept < unsynced.count { changes.removeSubrange(unsynced[kept]...) }
    unsynced = []
  }

  mutating func wipe() {
    changes = []
    unsynced = []
  }
}

extension Journal<RecordChange> {
  /// The records with which a device restarts, decoded from their bytes, in key order.
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

  /// The command that was last stored at a position of the outbox.
  func command(at position: UInt64) -> (CommandID, Command)? {
    for case .put(.outbox(position, let id, let command, _)) in changes.reversed() {
      return (id, command)
    }
    return nil
  }
}

extension Journal<AppRecordChange> {
  /// The records with which an app restarts, decoded from their bytes, in key order.
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
