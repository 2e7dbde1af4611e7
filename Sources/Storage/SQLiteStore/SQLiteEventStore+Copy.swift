import GRDB
import GRDBSQLite
import Glibc
public import RelayStore

extension SQLiteEventStore {
  public func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        if copy?.path != path { copy = try StoreCopy(db, to: path) }
        do {
          let progress = try copy!.step()
          if progress.isComplete { copy = nil } else { try progress.fit(in: room) }
          return progress
        } catch {
          copy = nil
          throw error
        }
      }
    }
  }
}

extension CopyProgress {
  /// - Parameter room: The bytes for the rest before the last step.
  /// - Throws: `full` if the rest takes more.
  fileprivate func fit(in room: Int) throws {
    let rest = total - copied + Int(StoreCopy.pagesPerStep)
    guard rest * StoreCopy.pageBytes <= room else { throw StoreError.full }
  }
}

/// A copy of a database in another file, made in steps beside the commits of the database's connection.
///
/// SQLite mirrors each commit of that connection into the pages that were copied before
/// (<https://www.sqlite.org/backup.html>), so commits restart nothing. Checkpoints change no page's
/// content and may run on another connection. Between two steps nothing is locked, and the log is as
/// short as without a copy.
final class StoreCopy {
  /// Bytes of a page, by SQLite's default.
  static let pageBytes = 4_096
  /// Pages of a step. With pages of 4 KB, a commit waits for at most a megabyte.
  static let pagesPerStep: Int32 = 256

  let path: String
  private var target: OpaquePointer?
  private var backup: OpaquePointer?

  /// Begins a copy. An existing file is replaced.
  init(_ db: Database, to path: String) throws {
    self.path = path
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
    try Self.check(sqlite3_open_v2(path, &target, flags, nil))
    chmod(path, 0o600)
    // The caller syncs the file once, when the copy is complete.
    try Self.check(
      sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil))
    backup = sqlite3_backup_init(target, "main", db.sqliteConnection, "main")
    guard backup != nil else { throw DatabaseError(resultCode: .SQLITE_ERROR) }
  }

  deinit { close() }

  /// Copies some pages.
  func step() throws -> CopyProgress {
    let code = sqlite3_backup_step(backup, Self.pagesPerStep)
    let total = Int(sqlite3_backup_pagecount(backup))
    var progress = CopyProgress(
      copied: total - Int(sqlite3_backup_remaining(backup)), total: total, isComplete: false)
    switch code {
    case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return progress
    case SQLITE_DONE:
      close()
      progress.isComplete = true
      return progress
    default: throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
  }

  private func close() {
    sqlite3_backup_finish(backup)
    sqlite3_close(target)
    (backup, target) = (nil, nil)
  }

  private static func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
