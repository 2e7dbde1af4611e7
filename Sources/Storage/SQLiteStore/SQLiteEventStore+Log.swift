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
        if position > 0 { part.previous = try Self.event(inRow: Int64(position), db) }
        var size = 0
        while part.position < newest, part.position < position + limit, size < bytes {
          part.position += 1
          let event = try Self.event(inRow: Int64(part.position), db)
          size += event.payload.count
          part.records.append(.event(event))
          // The lock of an earlier event would contradict the event: a later part has it.
          guard try heads.find(event.family.rawValue, db).seq == event.seq,
            let lock = try loadPasscodeLock(event.family, db)
          else { continue }
          part.records.append(.passcodeLock(lock))
        }
        return part
      }
    }
  }
}
