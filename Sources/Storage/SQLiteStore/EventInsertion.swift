import FamilyModel
import GRDB
import RelayStore

/// Appends rows to the table of events. A caller binds the command (6) and the payload (8) at the run,
/// because a damaged command has other bytes than an id.
struct EventInsertion {
  let statement: RawStatement

  init(_ db: Database) throws {
    // With NULL, SQLite numbers the row after the newest one and appends without a search.
    statement = try RawStatement(db, "INSERT INTO event VALUES (NULL,?,?,?,?,?,?,?,?,?)")
  }

  func bind(
    _ family: FamilyID, _ seq: UInt64, prior: Int64, _ audience: Audience, _ device: DeviceID,
    _ at: Instant, sum: Int64
  ) {
    statement.bind(1, family.rawValue.signed)
    statement.bind(2, seq.signed)
    statement.bind(3, prior)
    statement.bind(4, audience.rawValue.signed)
    statement.bind(5, Int64(device.rawValue))
    statement.bind(7, at.milliseconds)
    statement.bind(9, sum)
  }

  /// - Throws: `damaged` if the inserted row has another number.
  func check(row: Int64) throws {
    guard statement.insertedRow == row else { throw StoreError.damaged("the newest event") }
  }
}
