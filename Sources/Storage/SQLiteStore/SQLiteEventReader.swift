public import FamilyModel
public import RelayStore
import Synchronization

extension SQLiteEventStore {
  public func openReader() throws(StoreError) -> (any EventReader)? {
    try SQLiteEventReader(path: path)
  }

  public func positions(of families: [FamilyID]) -> ReadPositions {
    var positions = ReadPositions()
    for family in families {
      guard let head = heads[family.rawValue] else { continue }
      positions.newest[family] = .init(row: head.row, seq: head.seq)
    }
    return positions
  }
}

/// Reads the file of an open ``SQLiteEventStore`` over a connection of its own.
///
/// SQLite gives each statement the newest commits. Events never change, so the statements of a read
/// need no transaction, which would keep the write-ahead log from being restarted. Heads that
/// the store has not written yet come with ``begin(_:)``; the table has all others.
final class SQLiteEventReader: EventReader {
  private let base: Mutex<SQLiteEventStore>

  /// - Parameter path: The file of an open store.
  init(path: String) throws(StoreError) {
    base = Mutex(try SQLiteEventStore(readingFileAt: path))
  }

  func begin(_ positions: ReadPositions) {
    base.withLock { $0.heads.replaceAll(with: positions) }
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try base.withLock { base throws(StoreError) in
      try base.snapshot(of: family)
    }
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try base.withLock { base throws(StoreError) in
      try base.load(family, after: seq)
    }
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    try base.withLock { base throws(StoreError) in
      try base.events(of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
    }
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    try base.withLock { base throws(StoreError) in
      try base.event(of: command, by: device, in: family)
    }
  }

  func close() { base.withLock { $0.close() } }
}
