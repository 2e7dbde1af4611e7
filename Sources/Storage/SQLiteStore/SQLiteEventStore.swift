import FamilyModel
import GRDB
public import RelayStore

/// The relay's log in an SQLite file. Rows are in order of arrival, so a commit appends and never
/// sorts.
///
/// Each event names the row of the preceding event of its family, and ``HeadCache`` knows the
/// newest. Every 64th event of a family has a mark, so that a page of a long history is read
/// without walking the whole chain. With the mark, the 64 commands enter an index. The commands after
/// the last mark are found by a walk. An index entry for each event would dirty one page for each.
///
/// A commit is one transaction and one fsync of the write-ahead log. A ``Checkpointer`` copies the
/// log into the database. Only one store may use the file.
public final class SQLiteEventStore: EventStore {
  private static let schema = """
    CREATE TABLE event (
      id INTEGER PRIMARY KEY, family INTEGER NOT NULL, seq INTEGER NOT NULL, prior INTEGER NOT NULL,
      audience INTEGER NOT NULL, device INTEGER NOT NULL, command BLOB NOT NULL,
      at INTEGER NOT NULL, payload BLOB NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE head (family INTEGER PRIMARY KEY, row INTEGER NOT NULL, seq INTEGER NOT NULL,
      sum INTEGER NOT NULL);
    CREATE TABLE heads_written (
      id INTEGER PRIMARY KEY, row INTEGER NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE mark (
      family INTEGER NOT NULL, seq INTEGER NOT NULL, row INTEGER NOT NULL,
      PRIMARY KEY (family, seq)) WITHOUT ROWID;
    CREATE TABLE command (
      family INTEGER NOT NULL, device INTEGER NOT NULL, id BLOB NOT NULL, row INTEGER NOT NULL,
      PRIMARY KEY (family, device, id)) WITHOUT ROWID;
    CREATE TABLE cursor (
      family INTEGER NOT NULL, device INTEGER NOT NULL, audience INTEGER NOT NULL,
      delivered INTEGER NOT NULL, read INTEGER NOT NULL, sum INTEGER NOT NULL,
      PRIMARY KEY (family, device, audience)) WITHOUT ROWID;
    CREATE TABLE snapshot (
      family INTEGER PRIMARY KEY, seq INTEGER NOT NULL, payload BLOB NOT NULL,
      sum INTEGER NOT NULL);
    CREATE TABLE passcode_lock (
      family INTEGER PRIMARY KEY, payload BLOB NOT NULL, sum INTEGER NOT NULL);
    """
  /// Heads of versions below 5 have no checksum. Events of versions below 4 name neither the device
  /// that sent the command nor a hash.
  private static let versions: ClosedRange<Int32> = 5...5
  /// Size of SQLite's page cache.
  private static let cacheKilobytes = 65_536
  /// Events of a family between two marks.
  static let markEvery: UInt64 = 64

  let path: String
  private let limits: LogLimits
  /// `nil` in a reader.
  private let lock: FileLock?
  let queue: DatabaseQueue
  /// `nil` in a reader.
  let checkpointer: Checkpointer?
  var heads: HeadCache
  var lastRow: Int64 = 0
  /// The copy under way.
  var copy: StoreCopy?

  /// Opens the log at `path`, or creates it with mode 0600.
  ///
  /// - Throws: `locked` if another store uses the file. `damaged`, `wrongVersion` or `io` if the
  ///   file is not usable; the file is not changed then.
  public convenience init(path: String) throws(StoreError) {
    try self.init(path: path, limits: LogLimits())
  }

  /// - Parameter headCycle: See ``HeadCache/cycleFamilies``.
  package init(
    path: String, limits: LogLimits, headCycle: Int = HeadCache.cycleFamilies
  ) throws(StoreError) {
    (self.path, self.limits) = (path, limits)
    heads = HeadCache(cycleFamilies: headCycle)
    queue = try Self.openFile(path)
    lock = try FileLock(path)
    let checkpointer = Checkpointer(try StoreFile.join(path), limits)
    self.checkpointer = checkpointer
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        // From here on only connections of this process hold locks, each for a moment.
        try db.execute(sql: "PRAGMA busy_timeout = \(limits.lockMilliseconds)")
        checkpointer.observeCommits(of: db)
        lastRow = try Int64.fetchOne(db, sql: "SELECT max(id) FROM event") ?? 0
        let written = try HeadCache.writtenRow(lastRow: lastRow, db)
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

  /// A further connection to the file of an open store, for reads only.
  init(readingFileAt path: String) throws(StoreError) {
    (self.path, limits) = (path, LogLimits())
    heads = HeadCache(cycleFamilies: HeadCache.cycleFamilies)
    queue = try StoreFile.join(path)
    (lock, checkpointer) = (nil, nil)
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in try db.execute(sql: "PRAGMA query_only = 1") }
    }
  }

  /// Opens the file, or creates it.
  static func openFile(_ path: String) throws(StoreError) -> DatabaseQueue {
    try StoreFile.open(
      path, application: 0x5052_4C31, versions: Self.versions, synchronous: "FULL",
      cacheKilobytes: Self.cacheKilobytes, isShared: true, schema: Self.schema)
  }

  /// SQLite's effective settings: `PRAGMA synchronous` (2 is FULL) and `PRAGMA journal_mode`.
  public func settings() throws(StoreError) -> (synchronous: Int, journal: String) {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        (
          try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1,
          try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? ""
        )
      }
    }
  }

  /// A lock of the log is awaited before the first write. Above ``LogLimits/lockMilliseconds`` the commit
  /// fails with `io`: no other process has the file, so that the next start may succeed.
  public func commit(_ batch: Batch) throws(StoreError) {
    guard !batch.isEmpty else { return }
    try commit(events: batch.events.count) { db in
      try write(batch.events, db)
      try write(batch.cursors, db)
      try write(batch.snapshots, db)
      try write(batch.passcodeLocks, db)
    }
  }

  /// Commits what the body writes, and some heads.
  ///
  /// - Parameter events: The number of events that the body writes.
  func commit(events: Int, _ body: (Database) throws -> Void) throws(StoreError) {
    try awaitingLock { db in
      let before = lastRow
      do {
        var written: ArraySlice<UInt64> = []
        try db.commit {
          try body(db)
          let slice = heads.slice(events: events, lastRow: before)
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

  /// Runs a body that commits once. Its wait for a lock of the log fails as that of ``commit(_:)``.
  func awaitingLock(_ body: (Database) throws -> Void) throws(StoreError) {
    do throws(StoreError) {
      try StoreFile.translatingErrors {
        try queue.inDatabase { db in
          try checkpointer?.prepareCommit(db)
          try body(db)
        }
      }
    } catch {
      guard error.code == .locked else { throw error }
      throw .io("the log was locked for \(limits.lockMilliseconds) ms")
    }
  }

  /// The number of events.
  public var events: Int { Int(lastRow) }

  public func close() {
    // SQLite closes no connection whose database is being copied.
    copy = nil
    checkpointer?.close(before: queue)
    try? queue.close()
    lock?.unlock()
  }
}
