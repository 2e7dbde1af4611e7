import GRDB
import GRDBSQLite
import RelayStore

/// Syncs of the write-ahead log and the database beyond SQLite's own.
extension Database {
  /// Bytes of the log per write: the largest page. SQLite's VFS writes at most 128 KB at once.
  private static let rewriteBytes: Int64 = 65_536

  /// Verifies the log, and truncates it after its last commit.
  ///
  /// The next commits would otherwise overwrite only the beginning of an interrupted commit, whose
  /// end would then look like commits after damage.
  ///
  /// Precondition: the connection holds the lock for writing, and the log has no later frame.
  ///
  /// - Throws: `damaged` if the log has commits that SQLite does not read.
  func verifyLog() throws {
    guard let log = file(SQLITE_FCNTL_JOURNAL_POINTER) else { return }
    let methods = log.pointee.pMethods.pointee
    var size: Int64 = 0
    try check(methods.xFileSize(log, &size))
    let scan = try LogScan(size: size) { bytes, offset in
      try check(methods.xRead(log, &bytes, Int32(bytes.count), offset))
    }
    guard let scan else { return }
    guard !scan.isDamaged else { throw StoreError.damaged("the log before its last commits") }
    guard scan.committedBytes < size else { return }
    try check(methods.xTruncate(log, scan.committedBytes))
  }

  /// Rewrites the log with its own bytes and syncs it.
  ///
  /// A process that was killed may have left commits that it never synced, or whose sync failed.
  /// After a failed sync the kernel may treat pages as clean that are only in memory, so a second
  /// sync alone does nothing. The relay reads these commits and sends them to devices, so a later
  /// power cut must not revert them.
  func rewriteLog() throws {
    guard let log = file(SQLITE_FCNTL_JOURNAL_POINTER) else { return }
    let methods = log.pointee.pMethods.pointee
    var size: Int64 = 0
    try check(methods.xFileSize(log, &size))
    guard size > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: Int(min(size, Self.rewriteBytes)))
    for offset in stride(from: 0, to: size, by: bytes.count) {
      let count = Int32(min(size - offset, Int64(bytes.count)))
      try check(methods.xRead(log, &bytes, count, offset))
      try check(methods.xWrite(log, bytes, count, offset))
    }
    try check(methods.xSync(log, SQLITE_SYNC_NORMAL))
  }

  /// Keeps the log when the connection closes. Otherwise SQLite deletes the log, with commits that it
  /// does not read.
  func keepLog() {
    var keepsLog: Int32 = 1
    sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &keepsLog)
  }

  /// Syncs the database file.
  func syncDatabase() throws {
    guard let file = file(SQLITE_FCNTL_FILE_POINTER) else { return }
    try check(file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_NORMAL))
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// SQLite's own handle of a file. Opening and closing a second one would release SQLite's POSIX
  /// locks.
  private func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(sqliteConnection, "main", which, &file)
    return file?.pointee.pMethods == nil ? nil : file
  }
}
