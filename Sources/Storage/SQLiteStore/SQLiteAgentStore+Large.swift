public import FamilyModel
import Foundation
import GRDB
import GRDBSQLite
public import RelayStore

/// The values that are longer than any message, which are snapshots of devices.
///
/// A search in `record` reads the whole value of each record that it compares with the key. These values
/// therefore have a table of their own, which the first of them creates. Their records are empty. A
/// version without the table then finds no snapshot, instead of damage.
extension SQLiteAgentStore {
  private static let largeSchema = """
    CREATE TABLE IF NOT EXISTS large
    (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, sum INTEGER NOT NULL, value BLOB NOT NULL);
    """

  /// The keys of the values; none if the table cannot be read.
  static func largeKeys(_ db: Database) -> Set<[UInt8]> {
    guard (try? db.tableExists("large")) == true,
      let keys = try? Data.fetchAll(db, sql: "SELECT key FROM large")
    else { return [] }
    return Set(keys.map { [UInt8]($0) })
  }

  /// Removes the values that a version without their table has replaced. An error leaves them, and nobody
  /// reads them.
  static func removeReplacedValues(_ db: Database) {
    try? db.execute(
      sql: """
        DELETE FROM large WHERE NOT EXISTS
        (SELECT 1 FROM record WHERE record.key = large.key AND length(record.value) = 0)
        """)
  }

  /// Writes or removes the large value of a change.
  ///
  /// - Returns: The value for the record; `nil`: no record.
  func putLargeValue(_ change: Change, _ db: Database) throws -> [UInt8]? {
    guard let value = change.value, value.count > Limits.frameBytes else {
      if largeKeys.contains(change.key) {
        try RawStatement(db, "DELETE FROM large WHERE key = ?").run(binding: 1, change.key)
      }
      return change.value
    }
    // `execute` would release the statements that the caller holds.
    try RawStatement(db, Self.largeSchema).run()
    largeKeys.insert(change.key)
    let put = try RawStatement(db, "INSERT OR REPLACE INTO large(key, value, sum) VALUES (?,?,?)")
    put.bind(3, Int64(Self.sum(change.key, value)))
    try put.run(binding: 1, change.key, and: 2, value)
    return []
  }

  public func read(_ key: [UInt8], _ body: (Int, NextBytes) throws -> Void) throws(StoreError)
    -> Bool
  {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let record = try RawStatement(db, "SELECT value, sum FROM record WHERE key = ?")
        guard let value = try record.first(binding: 1, key, { try Self.value(in: $0, 0, of: key) })
        else { return false }
        if try !value.isEmpty || !readLargeValue(of: key, db, body) { try value.readParts(body) }
        return true
      }
    }
  }

  /// The value in a row, whose checksum is in the next column.
  ///
  /// - Throws: `damaged` if the checksum does not match.
  private static func value(in row: RawStatement, _ column: Int32, of key: [UInt8]) throws
    -> [UInt8]
  {
    let value = row.bytes(column)
    guard Int64(sum(key, value)) == row.integer(column + 1) else {
      throw StoreError.damaged("a record")
    }
    return value
  }

  /// The value of the record in a row, also a large one.
  ///
  /// - Throws: `damaged` if the checksum does not match.
  func value(in row: RawStatement, _ column: Int32, of key: [UInt8], _ db: Database) throws
    -> [UInt8]
  {
    var value = try Self.value(in: row, column, of: key)
    guard value.isEmpty else { return value }
    _ = try readLargeValue(of: key, db) { value = try [UInt8]($0, from: $1) }
    return value
  }

  private func readLargeValue(
    of key: [UInt8], _ db: Database, _ body: (Int, NextBytes) throws -> Void
  ) throws -> Bool {
    guard largeKeys.contains(key) else { return false }
    let row = try RawStatement(db, "SELECT id, sum FROM large WHERE key = ?")
    guard let (id, expected) = try row.first(binding: 1, key, { ($0.integer(0), $0.integer(1)) })
    else { return false }
    let reader = try BlobReader(db, "large", "value", id)
    reader.sum.add(key)
    try body(reader.rest) { try reader.next($0) }
    guard reader.rest > 0 || Int64(reader.sum.value) == expected else {
      throw StoreError.damaged("a large record")
    }
    return true
  }
}

/// Reads the bytes of a row's column in parts. A statement would copy all of them.
private final class BlobReader {
  private var blob: OpaquePointer?
  private var position: Int32 = 0
  /// The checksum of the bytes that were read.
  var sum = Checksum()

  init(_ db: Database, _ table: String, _ column: String, _ row: Int64) throws {
    try check(sqlite3_blob_open(db.sqliteConnection, "main", table, column, row, 0, &blob))
  }

  deinit { sqlite3_blob_close(blob) }

  /// The number of bytes that were not read.
  var rest: Int { Int(sqlite3_blob_bytes(blob) - position) }

  func next(_ buffer: UnsafeMutableRawBufferPointer) throws {
    let count = Int32(buffer.count)
    try check(sqlite3_blob_read(blob, buffer.baseAddress, count, position))
    sum.add(UnsafeRawBufferPointer(buffer))
    position += count
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
