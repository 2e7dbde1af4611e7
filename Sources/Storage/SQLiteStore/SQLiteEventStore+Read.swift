public import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  public func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let query = try RawStatement(db, "SELECT seq, payload, sum FROM snapshot WHERE family = ?")
        query.bind(1, family.rawValue.signed)
        guard try query.next() else { return nil }
        defer { query.reset() }
        let snapshot = StoredSnapshot(
          family: family, seq: query.number(0), payload: query.bytes(1))
        return Int64(snapshot.checksum) == query.integer(2) ? snapshot : nil
      }
    }
  }

  public func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let newest = try heads.find(family.rawValue, db)
        guard seq <= newest.seq else {
          throw StoreError.damaged("family \(family.rawValue) lacks event \(seq)")
        }
        let events = try events(of: family, after: seq, through: newest, db)
        let cursors = try loadCursors(family, db)
        // A family without a head has no events, unless its devices have read some.
        if let read = cursors.map(\.cursor.delivered).max(), read > newest.seq {
          throw StoreError.damaged("family \(family.rawValue) lacks event \(read)")
        }
        return StoredFamily(
          events: events, cursors: cursors,
          passcodeLock: try loadPasscodeLock(family, db))
      }
    }
  }

  func loadPasscodeLock(_ family: FamilyID, _ db: Database) throws -> StoredPasscodeLock? {
    guard let (lock, sum) = try Self.passcodeLock(of: family, db) else { return nil }
    guard Int64(lock.checksum) == sum else {
      throw StoreError.damaged("the passcode lock of family \(family.rawValue)")
    }
    return lock
  }

  /// The family's passcode lock, with the checksum beside it.
  static func passcodeLock(of family: FamilyID, _ db: Database) throws
    -> (lock: StoredPasscodeLock, sum: Int64)?
  {
    let query = try RawStatement(db, "SELECT payload, sum FROM passcode_lock WHERE family = ?")
    query.bind(1, family.rawValue.signed)
    guard try query.next() else { return nil }
    defer { query.reset() }
    return (StoredPasscodeLock(family: family, payload: query.bytes(0)), query.integer(1))
  }

  public func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let newest = try heads.find(family.rawValue, db)
        var found: [StoredEvent] = []
        var after = seq
        while after < min(newest.seq, last), found.count <= limit {
          let end = try mark(family, after: after, db) ?? newest
          found += try events(of: family, after: after, through: end, db).filter {
            $0.audience == audience && $0.seq <= last
          }
          after = end.seq
        }
        return Page.cut(found, limit: limit, bytes: bytes)
      }
    }
  }

  public func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let newest = try heads.find(family.rawValue, db)
        if let row = try indexedRow(of: command, device, family, db) {
          return try event(inRow: row, of: command, device, family, db)
        }
        var found: StoredEvent?
        let marked = newest.seq - newest.seq % Self.markEvery
        try Self.walk(family, from: newest, downTo: marked, Self.columns, db) { row in
          guard row.number(4) == UInt64(device.rawValue), row.bytes(5) == command.bytes else {
            return true
          }
          found = try Self.event(row)
          return false
        }
        return found
      }
    }
  }

  private func indexedRow(
    of command: CommandID, _ device: DeviceID, _ family: FamilyID, _ db: Database
  ) throws -> Int64? {
    let query = try RawStatement(
      db, "SELECT row FROM command WHERE family = ? AND device = ? AND id = ?")
    query.bind(1, family.rawValue.signed)
    query.bind(2, Int64(device.rawValue))
    return try query.first(binding: 3, command.bytes) { $0.integer(0) }
  }

  /// The event that the index names, verified to be the one of this command.
  private func event(
    inRow row: Int64, of command: CommandID, _ device: DeviceID, _ family: FamilyID, _ db: Database
  ) throws -> StoredEvent {
    let query = try RawStatement(
      db, "SELECT prior, family, seq, \(Self.columns) FROM event WHERE id = ?")
    query.bind(1, row)
    defer { query.reset() }
    guard try query.next(), case let event = try Self.event(query), event.family == family,
      event.device == device, event.command == command
    else { throw StoreError.damaged("the index of commands of family \(family.rawValue)") }
    return event
  }

  /// The columns that ``event(_:)`` reads, after `prior`, `family` and `seq`.
  private static let columns = "audience, device, command, at, payload, sum"

  /// The family's events after `after` up to the given one, ascending.
  private func events(
    of family: FamilyID, after: UInt64, through newest: HeadCache.Head, _ db: Database
  ) throws -> [StoredEvent] {
    var events: [StoredEvent] = []
    try Self.walk(family, from: newest, downTo: after, Self.columns, db) {
      events.append(try Self.event($0))
      return true
    }
    events.reverse()
    return events
  }

  /// Visits the family's events backwards, from the given one to the one after `after`, until the
  /// body returns `false`.
  ///
  /// Each row is verified to hold the expected family and sequence number.
  static func walk(
    _ family: FamilyID, from newest: HeadCache.Head, downTo after: UInt64, _ columns: String,
    _ db: Database, _ body: (RawStatement) throws -> Bool
  ) throws {
    let query = try RawStatement(
      db, "SELECT prior, family, seq, \(columns) FROM event WHERE id = ?")
    var (row, seq) = (newest.row, newest.seq)
    while seq > after {
      query.bind(1, row)
      defer { query.reset() }
      guard try query.next(), query.number(1) == family.rawValue, query.number(2) == seq else {
        throw StoreError.damaged("family \(family.rawValue) lacks event \(seq)")
      }
      guard try body(query) else { return }
      (row, seq) = (query.integer(0), seq - 1)
    }
  }

  static func event(_ row: RawStatement) throws -> StoredEvent {
    try EventRecord(row).verified()
  }

  /// The first mark after `seq`. A page of a long history is read backwards from there instead of
  /// from the head.
  private func mark(_ family: FamilyID, after seq: UInt64, _ db: Database) throws
    -> HeadCache.Head?
  {
    let query = try RawStatement(
      db, "SELECT row, seq FROM mark WHERE family = ? AND seq > ? ORDER BY seq LIMIT 1")
    query.bind(1, family.rawValue.signed)
    query.bind(2, seq.signed)
    guard try query.next() else { return nil }
    defer { query.reset() }
    return HeadCache.Head(row: query.integer(0), seq: query.number(1))
  }

  func loadCursors(_ family: FamilyID, _ db: Database) throws -> [StoredCursor] {
    let query = try RawStatement(
      db,
      """
      SELECT device, audience, delivered, read, sum FROM cursor WHERE family = ?
      ORDER BY device, audience
      """)
    query.bind(1, family.rawValue.signed)
    var cursors: [StoredCursor] = []
    while try query.next() {
      let cursor = StoredCursor(
        family: family, device: DeviceID(UInt32(truncatingIfNeeded: query.integer(0))),
        cursor: Cursor(
          Audience(rawValue: query.number(1)), delivered: query.number(2), read: query.number(3)))
      guard Int64(cursor.checksum) == query.integer(4) else {
        query.reset()
        throw StoreError.damaged("cursor in family \(family.rawValue)")
      }
      cursors.append(cursor)
    }
    return cursors
  }
}
