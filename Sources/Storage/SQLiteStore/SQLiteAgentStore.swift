import GRDB
public import RelayStore

/// A device's or app's local state in an SQLite file.
///
/// A commit survives a kill and a power cut (`synchronous=FULL`). The device tells an app that its
/// question is in the outbox, so the outbox must not lose the question. An app's positions must not
/// run ahead of the device's.
public final class SQLiteAgentStore: AgentStore {
  private static let schema = """
    CREATE TABLE record (key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL)
    WITHOUT ROWID;
    """
  /// The most memory of SQLite's page cache. A write reads the pages around its keys, and a host of
  /// hundreds of devices writes to as many places.
  private static let cacheKilobytes = 4_000
  /// The statements of versions below 3 have no positions.
  private static let versions: ClosedRange<Int32> = 3...3
  let queue: DatabaseQueue
  /// The keys that may have a large value.
  var largeKeys: Set<[UInt8]>

  /// Opens the file at `path`, or creates it with mode 0600.
  ///
  /// - Parameter waitsForLock: Whether to block for a moment while another process uses the file.
  /// - Throws: `locked` if another process uses the file; `damaged`, `wrongVersion` or `io` if it
  ///   is not usable.
  public convenience init(path: String, waitsForLock: Bool = true) throws(StoreError) {
    try self.init(path: path, waitsForLock: waitsForLock, isSalvaged: false)
  }

  /// Opens the file. Nothing is removed from a file that is to be salvaged.
  init(path: String, waitsForLock: Bool = true, isSalvaged: Bool) throws(StoreError) {
    let queue = try StoreFile.open(
      path, application: 0x5052_4131, versions: Self.versions, synchronous: "FULL",
      cacheKilobytes: Self.cacheKilobytes,
      busyTimeout: waitsForLock ? StoreFile.busyTimeout : 0, schema: Self.schema)
    self.queue = queue
    largeKeys = queue.inDatabase { db in
      let keys = Self.largeKeys(db)
      if !isSalvaged, !keys.isEmpty { Self.removeReplacedValues(db) }
      return keys
    }
  }

  public func load(prefix: [UInt8]) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    try load(prefix, "SELECT key, value, sum FROM record WHERE key >= ? ORDER BY key", prefix)
  }

  public func load(prefix: [UInt8], after key: [UInt8], skipping skipped: [UInt8]?)
    throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
  {
    try load(
      prefix, "SELECT key, value, sum FROM record WHERE key > ? ORDER BY key",
      prefix.lexicographicallyPrecedes(key) ? key : prefix, skipping: skipped)
  }

  private func load(
    _ prefix: [UInt8], _ sql: String, _ first: [UInt8], skipping skipped: [UInt8]? = nil
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        var records: [(key: [UInt8], value: [UInt8])] = []
        let rows = try RawStatement(db, sql)
        try rows.forEach(binding: 1, first) { row in
          let key = row.bytes(0)
          guard key.starts(with: prefix) else { return false }
          if key != skipped { records.append((key, try value(in: row, 1, of: key, db))) }
          return true
        }
        return records
      }
    }
  }

  public func apply(_ changes: [Change]) throws(StoreError) {
    let former = largeKeys
    do {
      try StoreFile.translatingErrors {
        try queue.inDatabase { db in
          try db.commit { try write(changes, db) }
        }
      }
    } catch {
      largeKeys = former
      throw error
    }
  }

  private func write(_ changes: [Change], _ db: Database) throws {
    let put = try RawStatement(db, "INSERT OR REPLACE INTO record VALUES (?,?,?)")
    let delete = try RawStatement(db, "DELETE FROM record WHERE key = ?")
    for change in changes {
      if let value = try putLargeValue(change, db) {
        put.bind(3, Int64(Self.sum(change.key, value)))
        try put.run(binding: 1, change.key, and: 2, value)
      } else {
        try delete.run(binding: 1, change.key)
      }
    }
  }

  static func sum(_ key: [UInt8], _ value: [UInt8]) -> UInt32 {
    var sum = Checksum()
    sum.add(key)
    sum.add(value)
    return sum.value
  }

  public func close() { try? queue.close() }
}
