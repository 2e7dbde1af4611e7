import GRDB
import GRDBSQLite

/// What SQLite does not do with its files by itself.
extension Database {
  /// Bytes of the log that are written anew at a time: the largest page. SQLite writes no more than 128 KB at once.
  private static let renewedBytes: Int64 = 65_536

  /// Writes the log to the disk again, and syncs it.
  ///
  /// A process that ended without closing may have left commits that it did not come to sync, or whose sync
  /// failed: then the system takes for written what it only has in memory, and another sync does nothing.
  /// Who opens the file reads them, and tells others of them: the next power cut must not take them back.
  func renewLog() throws {
    guard let log = file(SQLITE_FCNTL_JOURNAL_POINTER) else { return }
    let methods = log.pointee.pMethods.pointee
    var size: Int64 = 0
    try check(methods.xFileSize(log, &size))
    guard size > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: Int(min(size, Self.renewedBytes)))
    for place in stride(from: 0, to: size, by: bytes.count) {
      let count = Int32(min(size - place, Int64(bytes.count)))
      try check(methods.xRead(log, &bytes, count, place))
      try check(methods.xWrite(log, bytes, count, place))
    }
    try check(methods.xSync(log, SQLITE_SYNC_NORMAL))
  }

  /// Syncs the database's file.
  func syncDatabase() throws {
    guard let file = file(SQLITE_FCNTL_FILE_POINTER) else { return }
    try check(file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_NORMAL))
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// SQLite's own handle of a file: to close another one would let its locks go.
  private func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(sqliteConnection, "main", which, &file)
    return file?.pointee.pMethods == nil ? nil : file
  }
}
