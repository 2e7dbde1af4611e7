import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  public func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let newest = Int(lastRow)
        var part = LogPart(position: position, newest: newest)
        guard 0...newest ~= position else { return part }
        if position > 0 { part.previous = LogRecord(try Self.readable(inRow: position, db)) }
        var size = 0
        while part.position < newest, part.position < position + limit, size < bytes {
          part.position += 1
          let record = try Self.readable(inRow: part.position, db)
          size += record.payload.count
          part.records.append(LogRecord(record))
          if let lock = try lock(after: record, inRow: part.position, db) {
            part.records.append(lock)
          }
        }
        return part
      }
    }
  }

  /// The record in a row, as far as it can be read.
  private static func readable(inRow row: Int, _ db: Database) throws -> EventRecord {
    let found = try StoreFile.unlessDamaged { try record(inRow: Int64(row), db) }
    return (found ?? nil) ?? .unreadable
  }

  /// The family's passcode lock if the record is the family's newest event. The lock of an earlier event
  /// would contradict the event: a later part has it.
  private func lock(after record: EventRecord, inRow row: Int, _ db: Database) throws -> LogRecord?
  {
    let family = record.family
    // With a damaged head, no event is known to be the newest one.
    let head = try StoreFile.unlessDamaged { try heads.find(family.rawValue, db) }
    guard head.map({ $0.row == row }) ?? true else { return nil }
    guard let found = try StoreFile.unlessDamaged({ try Self.passcodeLock(of: family, db) }) else {
      return .damagedLock(StoredPasscodeLock(family: family, payload: []), sum: -1)
    }
    return found.map { lock, sum in
      Int64(lock.checksum) == sum ? .passcodeLock(lock) : .damagedLock(lock, sum: sum)
    }
  }
}

extension LogRecord {
  fileprivate init(_ record: EventRecord) {
    self = record.event.map { .event($0) } ?? .damaged(record)
  }
}
