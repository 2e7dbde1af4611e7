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
    let query = try RawStatement(
      db,
      """
      SELECT prior, family, seq, audience, device, command, at, payload, sum FROM event
      WHERE id = ?
      """)
    query.bind(1, row)
    defer { query.reset() }
    guard try query.next() else { throw StoreError.damaged("the record in row \(row)") }
    return try event(query)
  }
}
