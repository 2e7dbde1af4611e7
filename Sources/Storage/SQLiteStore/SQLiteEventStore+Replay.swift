import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  /// Appends records of another store's log as they are, so that both logs have equal rows.
  ///
  /// A damaged record stays damaged. Behind damage, an event may not continue the known events of its
  /// family, and is stored all the same: the other families' events follow. ``findDamage(whole:newest:)``
  /// finds both. The new events have no marks and no index before ``rebuildIndex()``.
  public func replay(_ records: some Collection<LogRecord>) throws(StoreError) {
    try commit(events: records.count) { db in
      for record in records {
        switch record {
        case .event(let event):
          let head = try knownHead(of: event.family, db)
          try append(EventRecord(event, prior: head.row), db)
          // The checksum proves the family and the number, also behind damage.
          if event.seq > head.seq { advanceHead(of: event.family, to: event.seq) }
        case .damaged(let record):
          let head = try knownHead(of: record.family, db)
          try append(record, db)
          // Only the place in the chain names the owner: see ``ChainWalk``.
          if record.seq == head.seq &+ 1, record.prior == head.row {
            advanceHead(of: record.family, to: record.seq)
          }
        case .passcodeLock(let lock): try write([lock], db)
        case .damagedLock(let lock, let sum): try write(lock, sum: sum, db)
        }
      }
    }
  }

  /// Moves the family's head to the newest row.
  private func advanceHead(of family: FamilyID, to seq: UInt64) {
    heads.advance(family.rawValue, row: lastRow, seq: seq)
  }

  /// Inserts the record as the newest row.
  private func append(_ record: EventRecord, _ db: Database) throws {
    let insert = try EventInsertion(db)
    insert.bind(
      record.family, record.seq, prior: record.prior, record.audience, record.device, record.at,
      sum: record.sum)
    try insert.statement.run(binding: 6, record.command, and: 8, record.payload)
    lastRow += 1
    try insert.check(row: lastRow)
  }

  /// The family's head; that of a family without events if it is damaged.
  private func knownHead(of family: FamilyID, _ db: Database) throws(StoreError) -> HeadCache.Head {
    try StoreFile.unlessDamaged { try heads.findLoaded(family.rawValue, db) }
      ?? HeadCache.Head(row: 0, seq: 0)
  }
}
