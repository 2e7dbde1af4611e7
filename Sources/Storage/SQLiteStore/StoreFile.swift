import FamilyModel
import Foundation
import GRDB
import GRDBSQLite
import RelayStore

/// What both stores have in common: how the file is opened, and what its errors mean.
enum StoreFile {
  /// Seconds to wait for another process to let the file go.
  static let busy: TimeInterval = 0.2

  /// Opens the file, or makes it, for this process alone, and unless it is shared, for this connection.
  ///
  /// - Parameters:
  ///   - application: Tells the two kinds of stores apart, in the header of the file.
  ///   - versions: Of the schema: the newest one, and those before it that need no change but of their number.
  ///   - synchronous: `FULL`: each commit is on disk; `NORMAL`: it survives a kill, not a power cut.
  ///   - isShared: Other connections of this process use the file, too, and one of them copies the
  ///     write-ahead log. This makes SQLite's VFS `unix-excl` the one of the whole process.
  static func open(
    _ path: String, application: Int32, versions: ClosedRange<Int32>, synchronous: String,
    cacheKilobytes: Int, isShared: Bool = false, schema: String
  ) throws(StoreError) -> DatabaseQueue {
    let isNew = !FileManager.default.fileExists(atPath: path)
    if isNew {
      _ = FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    return try guarded { () throws -> DatabaseQueue in
      if isShared { sqlite3_vfs_register(sqlite3_vfs_find("unix-excl"), 1) }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase { db in
        // SQLite opens a file that it may not write, and says so at the first commit only.
        guard sqlite3_db_readonly(db.sqliteConnection, "main") == 0 else {
          throw StoreError.io("the store may not be written")
        }
        // Read before anything is written: a file that is not ours stays as it is.
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let foundVersion = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 || found == application && versions ~= foundVersion else {
          throw StoreError.wrongVersion("application \(found), version \(foundVersion)")
        }
        if !isShared { try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        try db.execute(sql: "PRAGMA journal_mode = WAL")
        // After WAL is on: turning it on sets synchronous back to NORMAL.
        try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(isShared ? 0 : 16384)")
        try db.execute(sql: "PRAGMA cache_size = -\(cacheKilobytes)")
        let mark =
          "PRAGMA application_id = \(application); PRAGMA user_version = \(versions.upperBound);"
        let made = tables == 0 ? mark + schema : foundVersion < versions.upperBound ? mark : ""
        // Also where there is nothing to make: it takes the lock now, and not at the first commit.
        try db.execute(sql: "BEGIN IMMEDIATE; \(made) COMMIT")
        // Now nobody else writes to it.
        if synchronous == "FULL", tables > 0 { try db.renewLog() }
      }
      return queue
    }
  }

  /// Opens a second connection to a file that is open and shared.
  static func join(_ path: String) throws(StoreError) -> DatabaseQueue {
    try guarded {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
      return queue
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busy)
    return configuration
  }

  /// Runs the body and says in the store's words what went wrong.
  static func guarded<R>(_ body: () throws -> R) throws(StoreError) -> R {
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
  /// SQLite's integers are signed; the bits are kept.
  var signed: Int64 { Int64(bitPattern: self) }
}
