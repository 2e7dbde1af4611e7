import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  public func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification {
    try StoreFile.translatingErrors {
      queue.inDatabase { db in
        let end = min(lastRow, position + Int64(limit))
        var result = Verification(position: end < lastRow ? end : nil)
        for row in position..<max(position, end) {
          do { _ = try Self.event(inRow: row + 1, db) } catch {
            result.damage.append(
              error as? StoreError ?? .damaged("the record in row \(row + 1)"))
          }
          result.events += 1
        }
        return result
      }
    }
  }

  /// The event in a row.
  ///
  /// - Throws: `damaged` if the row is missing or its checksum does not match.
  static func event(inRow row: Int64, _ db: Database) throws -> StoredEvent {
    guard let record = try record(inRow: row, db) else {
      throw StoreError.damaged("the record in row \(row)")
    }
    return try record.verified()
  }

  /// The record in a row, whether or not its checksum matches; `nil` if the row is missing.
  static func record(inRow row: Int64, _ db: Database) throws -> EventRecord? {
    let query = try RawStatement(
      db,
      """
      SELECT prior, family, seq, audience, device, command, at, payload, sum FROM event
      WHERE id = ?
      """)
    query.bind(1, row)
    defer { query.reset() }
    return try query.next() ? EventRecord(query) : nil
  }
}

extension EventRecord {
  /// Reads a row of `prior, family, seq, audience, device, command, at, payload, sum`.
  init(_ row: RawStatement) {
    self.init(
      prior: row.integer(0), family: FamilyID(row.number(1)), seq: row.number(2),
      audience: Audience(rawValue: row.number(3)),
      device: DeviceID(UInt32(truncatingIfNeeded: row.integer(4))), command: row.bytes(5),
      at: Instant(milliseconds: row.integer(6)), payload: row.bytes(7), sum: row.integer(8))
  }

  /// The event.
  ///
  /// - Throws: `damaged` if the checksum does not match.
  func verified() throws -> StoredEvent {
    guard let event else {
      throw StoreError.damaged("event \(seq) of family \(family.rawValue)")
    }
    return event
  }
}
