import FamilyModel
import GRDB
import RelayStore

extension SQLiteEventStore {
  /// - Throws: `conflict` unless each event is the next of its family.
  func write(_ events: [StoredEvent], _ db: GRDB.Database) throws {
    let insert = try Prepared(db, "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?)")
    for event in events {
      let family = event.family.rawValue
      let head = try head(family, db)
      guard event.seq == head.seq + 1 else { throw StoreError.conflict }
      let row = lastRow + 1
      insert.bind(1, row)
      insert.bind(2, family.signed)
      insert.bind(3, event.seq.signed)
      insert.bind(4, head.row)
      insert.bind(5, event.audience.rawValue.signed)
      insert.bind(7, event.at.milliseconds)
      insert.bind(9, Int64(event.checksum))
      try insert.run(binding: 6, event.command, and: 8, event.payload)
      if event.seq % Self.markEvery == 0 {
        let mark = try Prepared(db, "INSERT INTO mark VALUES (?,?,?)")
        mark.bind(1, family.signed)
        mark.bind(2, event.seq.signed)
        mark.bind(3, row)
        try mark.run()
      }
      lastRow = row
      heads.advance(family, row: row, seq: event.seq)
    }
  }

  /// The family's newest event; row and seq are zero where there is none.
  func head(_ family: UInt64, _ db: GRDB.Database) throws -> Heads.Head {
    if let known = heads[family] { return known }
    let query = try Prepared(db, "SELECT row, seq FROM head WHERE family = ?")
    query.bind(1, family.signed)
    guard try query.next() else { return Heads.Head(row: 0, seq: 0) }
    let head = Heads.Head(row: query.integer(0), seq: query.number(1))
    query.reset()
    heads.know(family, head)
    return head
  }

  func write(_ slice: (families: ArraySlice<UInt64>, done: Int64?), _ db: GRDB.Database) throws {
    guard !slice.families.isEmpty else { return }
    let put = try Prepared(db, "INSERT OR REPLACE INTO head VALUES (?,?,?)")
    for family in slice.families {
      guard let head = heads[family] else { continue }
      put.bind(1, family.signed)
      put.bind(2, head.row)
      put.bind(3, head.seq.signed)
      try put.run()
    }
    guard let row = slice.done else { return }
    let done = try Prepared(db, "INSERT OR REPLACE INTO heads_written VALUES (1,?)")
    done.bind(1, row)
    try done.run()
  }

  func write(_ cursors: [StoredCursor], _ db: GRDB.Database) throws {
    guard !cursors.isEmpty else { return }
    let put = try Prepared(db, "INSERT OR REPLACE INTO cursor VALUES (?,?,?,?,?,?)")
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

  func write(_ snapshots: [StoredSnapshot], _ db: GRDB.Database) throws {
    guard !snapshots.isEmpty else { return }
    let put = try Prepared(db, "INSERT OR REPLACE INTO snapshot VALUES (?,?,?,?)")
    for item in snapshots {
      put.bind(1, item.family.rawValue.signed)
      put.bind(2, item.seq.signed)
      put.bind(4, Int64(item.checksum))
      try put.run(binding: 3, item.payload)
    }
  }
}
