import FamilyModel
import Foundation
import GRDB
import GRDBSQLite
import RelayStore

/// Opening of SQLite files and translation of SQLite's errors, for both stores.
enum StoreFile {
  /// How long SQLite waits for another process to release the file.
  static let busyTimeout: TimeInterval = 0.2

  /// Opens the file, or creates it, exclusively for this process.
  ///
  /// - Parameter application: The kind of store, kept in the file's header.
  /// - Parameter versions: Schema versions that this program reads; a file gets the newest number.
  /// - Parameter synchronous: `FULL` syncs each commit. `NORMAL` survives a kill, not a power cut.
  /// - Parameter busyTimeout: Seconds to wait for another process to release the file.
  /// - Parameter isShared: Whether several connections of this process use the file, one for
  ///   checkpoints. If so, SQLite's VFS `unix-excl` becomes the default of the whole process.
  static func open(
    _ path: String, application: Int32, versions: ClosedRange<Int32>, synchronous: String,
    cacheKilobytes: Int, isShared: Bool = false,
    busyTimeout: TimeInterval = Self.busyTimeout, schema: String
  ) throws(StoreError) -> DatabaseQueue {
    let isNew = !FileManager.default.fileExists(atPath: path)
    if isNew {
      _ = FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    return try translatingErrors { () throws -> DatabaseQueue in
      if isShared { sqlite3_vfs_register(sqlite3_vfs_find("unix-excl"), 1) }
      let queue = try DatabaseQueue(path: path, configuration: configuration(busyTimeout))
      try queue.inDatabase { db in
        // SQLite opens a read-only file without an error, which would surface only at the first
        // commit.
        guard sqlite3_db_readonly(db.sqliteConnection, "main") == 0 else {
          throw StoreError.io("the file is read-only")
        }
        // Checked before the first write, so that a foreign file is not changed.
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let foundVersion = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 || found == application && versions ~= foundVersion else {
          throw StoreError.wrongVersion("application \(found), version \(foundVersion)")
        }
        if !isShared { try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        try db.execute(sql: "PRAGMA journal_mode = WAL")
        // GRDB resets synchronous to NORMAL when it turns WAL on, hence afterwards.
        try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(isShared ? 0 : 16384)")
        try db.execute(sql: "PRAGMA cache_size = -\(cacheKilobytes)")
        let mark =
          "PRAGMA application_id = \(application); PRAGMA user_version = \(versions.upperBound);"
        let made = tables == 0 ? mark + schema : foundVersion < versions.upperBound ? mark : ""
        // Runs also for a complete file, to acquire the lock now and not at the first commit.
        try db.execute(sql: "BEGIN IMMEDIATE")
        do { try db.verifyLog() } catch {
          // The next start must find the damage again.
          db.keepLog()
          try db.execute(sql: "ROLLBACK")
          throw error
        }
        try db.execute(sql: "\(made) COMMIT")
        // The lock is held: no other process writes to the log.
        if synchronous == "FULL", tables > 0 { try db.rewriteLog() }
      }
      return queue
    }
  }

  /// Opens a second connection to a shared file. Precondition: this process has opened the file.
  static func join(_ path: String) throws(StoreError) -> DatabaseQueue {
    try translatingErrors {
      let queue = try DatabaseQueue(path: path, configuration: configuration(busyTimeout))
      try queue.inDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
      return queue
    }
  }

  /// The address of a file that other processes open meanwhile, also if this process has opened a
  /// shared one. Without addresses in SQLite, such a process cannot do both.
  static func addressForProcesses(_ path: String) -> String {
    let plain = CharacterSet(charactersIn: "?#%").inverted
    guard sqlite3_compileoption_used("USE_URI") != 0,
      let escaped = path.addingPercentEncoding(withAllowedCharacters: plain)
    else { return path }
    return "file:\(escaped)?vfs=unix"
  }

  private static func configuration(_ busyTimeout: TimeInterval) -> Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout)
    return configuration
  }

  /// The result of the body, with its errors translated; `nil` if the body meets damage.
  static func unlessDamaged<R>(_ body: () throws -> R) throws(StoreError) -> R? {
    do throws(StoreError) { return try translatingErrors(body) } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Runs the body and translates its errors into `StoreError`s.
  static func translatingErrors<R>(_ body: () throws -> R) throws(StoreError) -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as DatabaseError {
      switch error.resultCode {
      case .SQLITE_CONSTRAINT: throw .conflict
      case .SQLITE_FULL: throw .full
      case .SQLITE_BUSY, .SQLITE_LOCKED: throw .locked
      case .SQLITE_CORRUPT, .SQLITE_NOTADB:
        throw .damaged("SQLite code \(error.resultCode.rawValue)")
      default: throw .io("SQLite code \(error.extendedResultCode.rawValue)")
      }
    } catch {
      throw .io("\(error)")
    }
  }
}

extension UInt64 {
  /// The same bits as a signed integer, since SQLite has no unsigned ones.
  var signed: Int64 { Int64(bitPattern: self) }
}
