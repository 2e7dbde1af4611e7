import FamilyModel
import Foundation
import GRDBSQLite
import RelayStore
import SQLiteStore

/// Commits of events of random families, each synced to the disk.
enum StorePart {
  /// The store, and bare SQLite with a table of the same columns.
  private final class Stores {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "bench-micro-\(UUID().uuidString)")
    let store: SQLiteEventStore
    private var events = EventSource()
    private var source = IDSource(seed: 1)
    private var db: OpaquePointer?
    private var insert: OpaquePointer?
    private let payload = [UInt8](repeating: 7, count: 300)

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try SQLiteEventStore(path: folder.appendingPathComponent("store").path)
      sqlite3_open(folder.appendingPathComponent("bare").path, &db)
      for sql in [
        "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
        "PRAGMA wal_autocheckpoint=16384", "PRAGMA cache_size=-65536",
        """
        CREATE TABLE event(id INTEGER PRIMARY KEY, family INTEGER, seq INTEGER, prior INTEGER,
        audience INTEGER, command BLOB, at INTEGER, payload BLOB, sum INTEGER)
        """,
      ] { run(sql) }
      sqlite3_prepare_v2(
        db, "INSERT INTO event VALUES(NULL,?,?,?,?,?,?,?,?)", -1, &insert, nil)
    }

    deinit {
      store.close()
      sqlite3_finalize(insert)
      sqlite3_close(db)
      try? FileManager.default.removeItem(at: folder)
    }

    private func run(_ sql: String) {
      guard sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK else { fatalError(sql) }
    }

    func commit(_ count: Int) {
      var batch = Batch()
      for _ in 0..<count { batch.events.append(events.next()) }
      do { try store.commit(batch) } catch { fatalError("\(error)") }
    }

    func bare(_ count: Int) {
      let id = [UInt8](repeating: 1, count: 16)
      run("BEGIN IMMEDIATE")
      for _ in 0..<count {
        for (index, value) in [1, 2, 3, 4].enumerated() {
          sqlite3_bind_int64(
            insert, Int32(index + 1), Int64(source.next() % EventSource.families) + Int64(value))
        }
        sqlite3_bind_blob(insert, 5, id, 16, nil)
        sqlite3_bind_int64(insert, 6, 1_763_000_000_000)
        payload.withUnsafeBytes { bytes in
          sqlite3_bind_blob(insert, 7, bytes.baseAddress, 300, nil)
          sqlite3_bind_int64(insert, 8, 4_000_000_000)
          sqlite3_step(insert)
          sqlite3_reset(insert)
        }
      }
      run("COMMIT")
    }
  }

  /// SQLite's version.
  static var version: String { String(cString: sqlite3_libversion()) }

  static func all(_ batches: [Int]) throws -> [Part] {
    try batches.map { batch in
      let stores = try Stores()
      return Part(
        name: "store \(batch == 1 ? "one event" : "an event, \(batch) together")",
        referenceName: "SQLite, the same columns", unit: batch, run: { stores.commit(batch) },
        reference: { stores.bare(batch) })
    }
  }
}
