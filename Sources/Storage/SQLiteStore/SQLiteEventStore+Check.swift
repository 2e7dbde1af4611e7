public import FamilyModel
import Foundation
import GRDB
public import RelayStore

/// The damage that a start finds in the records of a store.
public struct StoreDamage: Sendable {
  /// The families with a record that does not match its checksum, or its place in the family's chain.
  public internal(set) var families: [FamilyID: StoreError] = [:]
  /// The events of these families from the first damaged one to the newest one. Devices verify each event
  /// against the one before, so the damage concerns all of them.
  public internal(set) var events: [FamilyID: ClosedRange<UInt64>] = [:]
  /// Whether a mark is wrong or missing, or the index lacks commands: see ``SQLiteEventStore/rebuildIndex()``.
  public internal(set) var isIndexDamaged = false

  /// The damage of the first family, or of the index; `nil` for a whole store.
  public var first: StoreError? {
    families.min { $0.key < $1.key }?.value
      ?? (isIndexDamaged ? .damaged("the index of commands") : nil)
  }

  /// Keeps the first damage of each family.
  ///
  /// - Parameter event: The number of the damaged event; `nil` for another record.
  mutating func add(_ error: StoreError, to family: UInt64, event: UInt64? = nil) {
    let family = FamilyID(family)
    families[family] = families[family] ?? error
    if let event, events[family] == nil { events[family] = event...event }
  }

  /// Runs the body, whose damage belongs to the family.
  fileprivate mutating func confine(to family: UInt64, _ body: () throws -> Void) throws {
    do { try body() } catch let error as StoreError where error.isDamage { add(error, to: family) }
  }
}

extension SQLiteEventStore {
  /// The largest file, in bytes, that ``findDamage(whole:newest:)`` reads as a whole.
  public static let checkedBytes: Int64 = 32 << 20
  /// The newest events that are checked in a larger file, because recent writes are damaged most
  /// often.
  public static let checkedEvents: Int64 = 8_192

  /// Verifies the whole file, or the newest events of a large file. If these have damage, the whole file
  /// is read.
  ///
  /// The limits keep a start below a second for any size of a sound file. Every other record is verified
  /// when it is read, by ``events(of:_:after:through:limit:bytes:)`` or ``load(_:after:)``.
  ///
  /// A family's damage is known only if each record of the log is there and names its owner. Otherwise
  /// the newest events of other families may be lost, and their next events would replace them.
  ///
  /// - Parameters:
  ///   - bytes: The largest file that is read as a whole.
  ///   - newest: The number of events that are verified in a larger file.
  /// - Throws: `damaged` if a record is missing, or if no family can be proven to own a damaged one.
  ///   Damaged heads, and a damaged structure of the file, throw it too.
  public func findDamage(
    whole bytes: Int64 = SQLiteEventStore.checkedBytes,
    newest: Int64 = SQLiteEventStore.checkedEvents
  ) throws(StoreError) -> StoreDamage {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        let size = try Int64.fetchOne(
          db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        if size ?? 0 > bytes, try isSound(newest: newest, db) { return StoreDamage() }
        return try checkFile(db)
      }
    }
  }

  /// The ending of the file that `relayctl restore` writes beside a store with damage.
  public static let damageNote = "-damaged"

  /// Verifies the file as ``findDamage(whole:newest:)`` does, for a relay that starts with it.
  ///
  /// Beside a ``damageNote`` the whole file is read, whatever its size: the damage of a restored store may
  /// lie anywhere, and no start has seen it. The note is removed once nothing is damaged.
  public func findDamageAtStart(
    whole bytes: Int64 = SQLiteEventStore.checkedBytes,
    newest: Int64 = SQLiteEventStore.checkedEvents
  ) throws(StoreError) -> StoreDamage {
    let note = path + Self.damageNote
    guard FileManager.default.fileExists(atPath: note) else {
      return try findDamage(whole: bytes, newest: newest)
    }
    let damage = try findDamage(whole: .max)
    if damage.first == nil { try? FileManager.default.removeItem(atPath: note) }
    return damage
  }

  /// Verifies the file as ``findDamage(whole:newest:)`` does.
  ///
  /// - Throws: `damaged` if anything is damaged.
  public func check(
    whole bytes: Int64 = SQLiteEventStore.checkedBytes,
    newest: Int64 = SQLiteEventStore.checkedEvents
  ) throws(StoreError) {
    if let damage = try findDamage(whole: bytes, newest: newest).first { throw damage }
  }

  /// Whether the newest events have no damage.
  private func isSound(newest: Int64, _ db: Database) throws -> Bool {
    do {
      var damage = StoreDamage()
      _ = try checkEvents(from: max(1, lastRow - newest + 1), &damage, db)
      return damage.first == nil
    } catch let error as StoreError where error.isDamage { return false }
  }

  private func checkFile(_ db: Database) throws -> StoreDamage {
    var damage = StoreDamage()
    let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
    guard found == "ok" else { throw StoreError.damaged("the file's structure") }
    let newest = try Int64.fetchOne(
      db, sql: "SELECT max(row) FROM (SELECT row FROM head UNION ALL SELECT row FROM mark)")
    guard newest ?? 0 <= lastRow else { throw StoreError.damaged("the newest record") }
    let ends = try checkEvents(from: 1, &damage, db)
    for (family, events) in damage.events {
      damage.events[family] = events.lowerBound...(ends[family.rawValue]?.seq ?? events.upperBound)
    }
    for family in Set(ends.keys).union(try readers(db)).sorted() {
      var read: UInt64 = 0
      try damage.confine(to: family) {
        _ = try loadPasscodeLock(FamilyID(family), db)
        let cursors = try loadCursors(FamilyID(family), db)
        read = cursors.map(\.cursor.delivered).max() ?? 0
      }
      // The end of the log is lost, and with it perhaps events of other families.
      guard read <= ends[family]?.seq ?? 0 else {
        throw StoreError.damaged("family \(family) lacks event \(read)")
      }
    }
    damage.isIndexDamaged = try needsIndex(db)
    return damage
  }

  /// The families whose devices have read events.
  private func readers(_ db: Database) throws -> [UInt64] {
    let query = try RawStatement(db, "SELECT DISTINCT family FROM cursor")
    defer { query.reset() }
    var families: [UInt64] = []
    while try query.next() { families.append(query.number(0)) }
    return families
  }

  /// Verifies the checksum of each event from a row on, and that each family's events form one
  /// chain to its head.
  ///
  /// - Returns: The newest event of each family that has one there.
  private func checkEvents(from first: Int64, _ damage: inout StoreDamage, _ db: Database) throws
    -> [UInt64: (row: Int64, seq: UInt64)]
  {
    var walk = ChainWalk(from: first)
    let query = try RawStatement(
      db,
      """
      SELECT prior, family, seq, audience, device, command, at, payload, sum, id FROM event
      WHERE id >= ? ORDER BY id
      """)
    query.bind(1, first)
    // An error would leave the cached statement at its row, and the next check would begin there.
    defer { query.reset() }
    while try query.next() {
      let link = ChainWalk.Link(
        row: query.integer(9), prior: query.integer(0), family: query.number(1),
        seq: query.number(2))
      var error: StoreError?
      do { _ = try Self.event(query) } catch let found as StoreError where found.isDamage {
        error = found
      }
      try walk.add(link, error, &damage) { seq, family, row in
        guard let event = try? Self.event(inRow: row, db) else { return false }
        return event.family.rawValue == family && event.seq == seq
      }
    }
    try walk.end(at: lastRow)
    for (family, end) in walk.ends {
      let head = try heads.find(family, db)
      guard head.row == end.row, head.seq == end.seq else {
        throw StoreError.damaged("the head of family \(family)")
      }
    }
    return walk.ends
  }
}
