public import FamilyModel
import Foundation
import GRDB
public import RelayStore

/// The relay's log in an SQLite file: rows in the order of arrival, with two unique indexes.
///
/// A commit is one transaction and one fsync of the write-ahead log. The file has one user.
public final class SQLiteEventStore: EventStore {
  private static let schema = """
    CREATE TABLE event (
      id INTEGER PRIMARY KEY, family INTEGER NOT NULL, seq INTEGER NOT NULL,
      audience INTEGER NOT NULL, command BLOB NOT NULL, at INTEGER NOT NULL,
      payload BLOB NOT NULL, sum INTEGER NOT NULL);
    CREATE UNIQUE INDEX event_seq ON event (family, seq);
    CREATE UNIQUE INDEX event_command ON event (family, command);
    CREATE TABLE cursor (
      family INTEGER NOT NULL, device INTEGER NOT NULL, audience INTEGER NOT NULL,
      delivered INTEGER NOT NULL, read INTEGER NOT NULL, sum INTEGER NOT NULL,
      PRIMARY KEY (family, device, audience)) WITHOUT ROWID;
    CREATE TABLE snapshot (
      family INTEGER PRIMARY KEY, seq INTEGER NOT NULL, payload BLOB NOT NULL,
      sum INTEGER NOT NULL);
    """
  private static let columns = "family, seq, audience, command, at, payload, sum"

  private let queue: DatabaseQueue

  /// Opens the log at `path`, or makes it with mode 0600.
  ///
  /// - Throws: `locked` where another process has it, `damaged` and `wrongVersion` where it is not
  ///   usable; the file then stays as it is.
  public init(path: String) throws(StoreError) {
    queue = try Database.open(
      path, application: 0x5052_4C31, synchronous: "FULL", schema: Self.schema)
  }

  /// The largest file, in bytes, that is read as a whole at the start; of a larger one, each family is when
  /// it is loaded.
  public static let checkedBytes: Int64 = 1 << 30

  /// Reads everything, unless that is more than ``checkedBytes``.
  ///
  /// - Throws: `damaged` where something is not what was written.
  public func check() throws(StoreError) {
    try Database.guarded {
      try queue.inDatabase { db in
        let size = try Int64.fetchOne(
          db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        guard size ?? 0 <= Self.checkedBytes else { return }
        let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
        guard found == "ok" else { throw StoreError.damaged("the file's structure") }
        let events = try Row.fetchCursor(db, sql: "SELECT \(Self.columns) FROM event")
        while let row = try events.next() { _ = try Self.event(row) }
        let families = try Int64.fetchAll(
          db, sql: "SELECT family FROM cursor UNION SELECT family FROM snapshot")
        for family in families.map({ FamilyID(UInt64(bitPattern: $0)) }) {
          _ = try loadCursors(family, db)
          _ = try loadSnapshot(family, db)
        }
      }
    }
  }

  /// What SQLite says of itself: `PRAGMA synchronous` (2 is FULL) and the journal's mode.
  public func settings() throws(StoreError) -> (synchronous: Int, journal: String) {
    try Database.guarded {
      try queue.inDatabase { db in
        (
          try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1,
          try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? ""
        )
      }
    }
  }

  public func commit(_ batch: Batch) throws(StoreError) {
    guard !batch.isEmpty else { return }
    try Database.guarded {
      try queue.inDatabase { db in
        try db.inTransaction(.immediate) {
          let event = try db.cachedStatement(
            sql: "INSERT INTO event (\(Self.columns)) VALUES (?,?,?,?,?,?,?)")
          for item in batch.events {
            try event.execute(arguments: [
              item.family.rawValue.signed, item.seq.signed, item.audience.rawValue.signed,
              Data(item.command.bytes), item.at.milliseconds, Data(item.payload), item.checksum,
            ])
          }
          let cursor = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO cursor VALUES (?,?,?,?,?,?)")
          for item in batch.cursors {
            try cursor.execute(arguments: [
              item.family.rawValue.signed, item.device.rawValue,
              item.cursor.audience.rawValue.signed, item.cursor.delivered.signed,
              item.cursor.read.signed, item.checksum,
            ])
          }
          let snapshot = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO snapshot VALUES (?,?,?,?)")
          for item in batch.snapshots {
            try snapshot.execute(arguments: [
              item.family.rawValue.signed, item.seq.signed, Data(item.payload), item.checksum,
            ])
          }
          return .commit
        }
      }
    }
  }

  public func load(_ family: FamilyID) throws(StoreError) -> StoredFamily {
    try Database.guarded {
      try queue.inDatabase { db in
        let snapshot = try loadSnapshot(family, db)
        let rows = try Row.fetchCursor(
          db.cachedStatement(
            sql: "SELECT \(Self.columns) FROM event WHERE family = ? AND seq > ? ORDER BY seq"),
          arguments: [family.rawValue.signed, (snapshot?.seq ?? 0).signed])
        var events: [StoredEvent] = []
        var expected = (snapshot?.seq ?? 0) + 1
        while let row = try rows.next() {
          let event = try Self.event(row)
          guard event.seq == expected else {
            throw StoreError.damaged("family \(family.rawValue) lacks event \(expected)")
          }
          expected += 1
          events.append(event)
        }
        return StoredFamily(
          snapshot: snapshot, events: events, cursors: try loadCursors(family, db))
      }
    }
  }

  private func loadSnapshot(_ family: FamilyID, _ db: GRDB.Database) throws -> StoredSnapshot? {
    let row = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT seq, payload, sum FROM snapshot WHERE family = ?"),
      arguments: [family.rawValue.signed])
    guard let row else { return nil }
    let snapshot = StoredSnapshot(
      family: family, seq: UInt64(bitPattern: row[0]), payload: [UInt8](row[1] as Data))
    guard snapshot.checksum == row[2] else {
      throw StoreError.damaged("snapshot of family \(family.rawValue)")
    }
    return snapshot
  }

  private func loadCursors(_ family: FamilyID, _ db: GRDB.Database) throws -> [StoredCursor] {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT device, audience, delivered, read, sum FROM cursor WHERE family = ?
          ORDER BY device, audience
          """),
      arguments: [family.rawValue.signed])
    return try rows.map { row in
      let cursor = StoredCursor(
        family: family, device: DeviceID(row[0]),
        cursor: Cursor(
          Audience(rawValue: UInt64(bitPattern: row[1])), delivered: UInt64(bitPattern: row[2]),
          read: UInt64(bitPattern: row[3])))
      guard cursor.checksum == row[4] else {
        throw StoreError.damaged("cursor in family \(family.rawValue)")
      }
      return cursor
    }
  }

  private static func event(_ row: Row) throws -> StoredEvent {
    let family = FamilyID(UInt64(bitPattern: row[0]))
    let seq = UInt64(bitPattern: row[1])
    guard let command = ID128(bytes: row[3] as Data) else {
      throw StoreError.damaged("event \(seq) of family \(family.rawValue)")
    }
    let event = StoredEvent(
      family: family, seq: seq, audience: Audience(rawValue: UInt64(bitPattern: row[2])),
      command: command, at: Instant(milliseconds: row[4]), payload: [UInt8](row[5] as Data))
    guard event.checksum == row[6] else {
      throw StoreError.damaged("event \(seq) of family \(family.rawValue)")
    }
    return event
  }

  public func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, limit: Int, bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try Database.guarded {
      try queue.inDatabase { db in
        let rows = try Row.fetchAll(
          db.cachedStatement(
            sql: """
              SELECT \(Self.columns) FROM event
              WHERE family = ? AND seq > ? AND audience = ? ORDER BY seq LIMIT ?
              """),
          arguments: [
            family.rawValue.signed, seq.signed, audience.rawValue.signed, limit + 1,
          ])
        return Page.cut(try rows.map(Self.event), limit: limit, bytes: bytes)
      }
    }
  }

  public func seq(of command: CommandID, in family: FamilyID) throws(StoreError) -> UInt64? {
    try Database.guarded {
      try queue.inDatabase { db in
        try Int64.fetchOne(
          db.cachedStatement(sql: "SELECT seq FROM event WHERE family = ? AND command = ?"),
          arguments: [family.rawValue.signed, Data(command.bytes)]
        ).map { UInt64(bitPattern: $0) }
      }
    }
  }

  public func close() { try? queue.close() }
}
