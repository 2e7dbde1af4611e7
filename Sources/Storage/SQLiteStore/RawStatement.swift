import FamilyModel
import GRDB
import GRDBSQLite

/// A cached statement that is bound and stepped through SQLite's C interface, at half the cost of
/// GRDB's arguments and rows.
struct RawStatement {
  private let statement: OpaquePointer
  private let connection: OpaquePointer

  init(_ db: Database, _ sql: String) throws {
    statement = try db.cachedStatement(sql: sql).sqliteStatement
    connection = db.sqliteConnection!
  }

  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(statement, index, value) }

  /// Runs the statement with the bytes bound to a parameter. SQLite reads the bytes only during the
  /// run.
  func run(binding index: Int32, _ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { bytes in
      bind(index, bytes)
      try run()
    }
  }

  /// Runs the statement with two byte strings bound to parameters.
  func run(
    binding first: Int32, _ bytes: [UInt8], and second: Int32, _ others: [UInt8]
  ) throws {
    try bytes.withUnsafeBytes { bytes in
      bind(first, bytes)
      try run(binding: second, others)
    }
  }

  /// Runs the statement with an id and a byte string bound to parameters.
  func run(binding first: Int32, _ id: ID128, and second: Int32, _ bytes: [UInt8]) throws {
    try withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { id in
      bind(first, id)
      try run(binding: second, bytes)
    }
  }

  private func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
    // An empty array has no address, and NULL is not an empty blob.
    if let start = bytes.baseAddress, bytes.count > 0 {
      sqlite3_bind_blob(statement, index, start, Int32(bytes.count), nil)
    } else {
      sqlite3_bind_zeroblob(statement, index, 0)
    }
  }

  /// Reads the first row with the bytes bound to a parameter; `nil`: no row.
  func first<R>(binding index: Int32, _ bytes: [UInt8], _ read: (RawStatement) throws -> R) throws
    -> R?
  {
    try bytes.withUnsafeBytes { bytes in
      bind(index, bytes)
      defer { reset() }
      return try next() ? try read(self) : nil
    }
  }

  /// Reads the rows with the bytes bound to a parameter, until the body returns `false`.
  func forEach(
    binding index: Int32, _ bytes: [UInt8], _ body: (RawStatement) throws -> Bool
  ) throws {
    try bytes.withUnsafeBytes { bytes in
      bind(index, bytes)
      defer { reset() }
      while try next(), try body(self) {}
    }
  }

  /// Runs the statement to its end.
  func run() throws {
    while try next() {}
  }

  /// Steps to the next row.
  ///
  /// - Returns: Whether there is a row. A caller that stops before `false` must call ``reset()``.
  func next() throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(statement)
      return false
    default:
      let code = ResultCode(rawValue: sqlite3_extended_errcode(connection))
      sqlite3_reset(statement)
      throw DatabaseError(resultCode: code)
    }
  }

  /// The number of the row that the connection inserted last.
  var insertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

  func reset() { sqlite3_reset(statement) }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
  func bytes(_ column: Int32) -> [UInt8] {
    let start = sqlite3_column_blob(statement, column)
    return [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}

extension Database {
  /// Runs the body in a transaction. If the body or the commit throws, the transaction is rolled
  /// back.
  func commit(_ body: () throws -> Void) throws {
    do {
      try RawStatement(self, "BEGIN IMMEDIATE").run()
      try body()
      try RawStatement(self, "COMMIT").run()
    } catch {
      if isInsideTransaction { try RawStatement(self, "ROLLBACK").run() }
      throw error
    }
  }
}
