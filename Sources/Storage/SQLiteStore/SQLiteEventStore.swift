import FamilyModel
import GRDB
public import RelayStore

/// The relay's log in an SQLite file: rows in the order of arrival, and nothing that a commit must sort in.
///
/// Each event names the row of the event before it of the same family; ``HeadCache`` knows the newest, and
/// every 64th event of a family has a mark, so that a page of a long history is near. A commit is one
/// transaction and one fsync of the write-ahead log, which a ``Checkpointer`` copies into the database. The
/// file has one user, whose calls may come from any thread, one at a time.
public final class SQLiteEventStore: EventStore {
  private static let schema = """
    CREATE TABLE event (
      id INTEGER PRIMARY KEY, family INTEGER NOT NULL, seq INTEGER NOT NULL, prior INTEGER NOT NULL,
      audience INTEGER NOT NULL, command BLOB NOT NULL, at INTEGER NOT NULL,
      payload BLOB NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE head (family INTEGER PRIMARY KEY, row INTEGER NOT NULL, seq INTEGER NOT NULL);
    CREATE TABLE heads_written (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
    CREATE TABLE mark (
      family INTEGER NOT NULL, seq INTEGER NOT NULL, row INTEGER NOT NULL,
      PRIMARY KEY (family, seq)) WITHOUT ROWID;
    CREATE TABLE cursor (
      family INTEGER NOT NULL, device INTEGER NOT NULL, audience INTEGER NOT NULL,
      delivered INTEGER NOT NULL, read INTEGER NOT NULL, sum INTEGER NOT NULL,
      PRIMARY KEY (family, device, audience)) WITHOUT ROWID;
    CREATE TABLE snapshot (
      family INTEGER PRIMARY KEY, seq INTEGER NOT NULL, payload BLOB NOT NULL,
      sum INTEGER NOT NULL);
    """
  /// In the second one there were no snapshots: who knew it would take the events after one for all.
  private static let versions: ClosedRange<Int32> = 2...3
  /// SQLite's pages in memory.
  private static let cacheKilobytes = 65_536
  /// Events of a family from one mark to the next.
  static let markEvery: UInt64 = 64

  private let claim: FileLock
  let queue: DatabaseQueue
  private let checkpointer: Checkpointer
  var heads = HeadCache()
  var lastRow: Int64 = 0

  /// Opens the log at `path`, or makes it with mode 0600.
  ///
  /// - Throws: `locked` where another process has it, `damaged` and `wrongVersion` where it is not
  ///   usable; the file then stays as it is.
  public convenience init(path: String) throws(StoreError) {
    try self.init(path: path, limits: LogLimits())
  }

  package init(path: String, limits: LogLimits) throws(StoreError) {
    queue = try StoreFile.open(
      path, application: 0x5052_4C31, versions: Self.versions, synchronous: "FULL",
      cacheKilobytes: Self.cacheKilobytes, isShared: true, schema: Self.schema)
    claim = try FileLock(path)
    checkpointer = Checkpointer(try StoreFile.join(path), limits)
    try StoreFile.guarded {
      try queue.inDatabase { db in
        checkpointer.watch(db)
        let written = try Int64.fetchOne(db, sql: "SELECT row FROM heads_written") ?? 0
        lastRow = try Int64.fetchOne(db, sql: "SELECT max(id) FROM event") ?? 0
        let tail = try RawStatement(
          db, "SELECT family, id, seq FROM event WHERE id > ? ORDER BY id")
        tail.bind(1, written)
        while try tail.next() {
          heads.advance(tail.number(0), row: tail.integer(1), seq: tail.number(2))
        }
        heads.commit(written: [])
      }
    }
  }

  /// What SQLite says of itself: `PRAGMA synchronous` (2 is FULL) and the journal's mode.
  public func settings() throws(StoreError) -> (synchronous: Int, journal: String) {
    try StoreFile.guarded {
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
    try StoreFile.guarded {
      try queue.inDatabase { db in
        try checkpointer.prepare(db)
        let before = lastRow
        do {
          var written: ArraySlice<UInt64> = []
          try db.commit {
            try write(batch.events, db)
            try write(batch.cursors, db)
            try write(batch.snapshots, db)
            let slice = heads.slice(events: batch.events.count, lastRow: before)
            try write(slice, db)
            written = slice.families
          }
          heads.commit(written: written)
        } catch {
          heads.rollBack()
          lastRow = before
          throw error
        }
      }
    }
  }

  public func close() {
    checkpointer.close(before: queue)
    try? queue.close()
    claim.end()
  }
}
