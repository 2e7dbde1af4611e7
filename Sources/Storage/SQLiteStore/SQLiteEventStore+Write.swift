import FamilyModel
import GRDB
import RelayStore

extension SQLiteEventStore {
  /// Inserts the events.
  ///
  /// - Throws: `conflict` unless each event is the next of its family.
  func write(_ events: [StoredEvent], _ db: Database) throws {
    lastRow = try Self.write(events, after: lastRow, &heads, db)
  }

  /// Inserts the events after row `last`. Static, so that the heads are exclusive for the whole
  /// call and not per event.
  ///
  /// - Returns: The newest row.
  private static func write(
    _ events: [StoredEvent], after last: Int64, _ heads: inout HeadCache, _ db: Database
  ) throws -> Int64 {
    let insert = try EventInsertion(db)
    var row = last
    for event in events {
      let family = event.family.rawValue
      let head = try heads.findLoaded(family, db)
      guard event.seq == head.seq &+ 1 else { throw StoreError.conflict }
      row += 1
      insert.bind(
        event.family, event.seq, prior: head.row, event.audience, event.device, event.at,
        sum: Int64(event.checksum))
      try insert.statement.run(binding: 6, event.command, and: 8, event.payload)
      try insert.check(row: row)
      if event.seq % markEvery == 0 {
        let mark = try RawStatement(db, "INSERT INTO mark VALUES (?,?,?)")
        mark.bind(1, family.signed)
        mark.bind(2, event.seq.signed)
        mark.bind(3, row)
        try mark.run()
        try indexCommands(
          of: event.family, through: HeadCache.Head(row: row, seq: event.seq), db)
      }
      heads.advance(family, row: row, seq: event.seq)
    }
    return row
  }

  /// Adds the family's commands since the last mark to the index.
  private static func indexCommands(
    of family: FamilyID, through newest: HeadCache.Head, _ db: Database
  ) throws {
    let insert = try RawStatement(db, "INSERT OR IGNORE INTO command VALUES (?,?,?,?)")
    var row = newest.row
    try walk(family, from: newest, downTo: newest.seq - markEvery, "device, command", db) { event in
      insert.bind(1, family.rawValue.signed)
      insert.bind(2, event.integer(3))
      insert.bind(4, row)
      try insert.run(binding: 3, event.bytes(4))
      row = event.integer(0)
      return true
    }
  }

  func write(_ slice: (families: ArraySlice<UInt64>, completedRow: Int64?), _ db: Database) throws {
    guard !slice.families.isEmpty else { return }
    let put = try RawStatement(db, "INSERT OR REPLACE INTO head VALUES (?,?,?,?)")
    for family in slice.families {
      guard let head = heads[family] else { continue }
      put.bind(1, family.signed)
      put.bind(2, head.row)
      put.bind(3, head.seq.signed)
      put.bind(4, Int64(HeadCache.checksum(family, head)))
      try put.run()
    }
    guard let row = slice.completedRow else { return }
    let done = try RawStatement(db, "INSERT OR REPLACE INTO heads_written VALUES (1,?,?)")
    done.bind(1, row)
    done.bind(2, Int64(HeadCache.checksum(0, row: row, seq: 0)))
    try done.run()
  }

  func write(_ cursors: [StoredCursor], _ db: Database) throws {
    guard !cursors.isEmpty else { return }
    let put = try RawStatement(db, "INSERT OR REPLACE INTO cursor VALUES (?,?,?,?,?,?)")
    for item in cursors {
      put.bind(1, item.family.rawValue.signed)
      put.bind(2, Int64(item.device.rawValue))
      put.bind(3, item.cursor.audience.rawValue.signed)
      put.bind(4, item.cursor.delivered.signed)
      put.bind(5, item.cursor.read.signed)
      put.bind(6, Int64(item.checksum))
      try put.run()
    }
  }

  func write(_ snapshots: [StoredSnapshot], _ db: Database) throws {
    guard !snapshots.isEmpty else { return }
    let put = try RawStatement(db, "INSERT OR REPLACE INTO snapshot VALUES (?,?,?,?)")
    for item in snapshots {
      put.bind(1, item.family.rawValue.signed)
      put.bind(2, item.seq.signed)
      put.bind(4, Int64(item.checksum))
      try put.run(binding: 3, item.payload)
    }
  }

  func write(_ locks: [StoredPasscodeLock], _ db: Database) throws {
    for lock in locks { try write(lock, sum: Int64(lock.checksum), db) }
  }

  func write(_ lock: StoredPasscodeLock, sum: Int64, _ db: Database) throws {
    let put = try RawStatement(db, "INSERT OR REPLACE INTO passcode_lock VALUES (?,?,?)")
    put.bind(1, lock.family.rawValue.signed)
    put.bind(3, sum)
    try put.run(binding: 2, lock.payload)
  }
}
