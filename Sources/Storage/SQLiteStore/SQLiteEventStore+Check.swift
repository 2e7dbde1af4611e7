import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  /// The largest file, in bytes, that is read as a whole at the start.
  public static let checkedBytes: Int64 = 32 << 20
  /// Of a larger one, so many of the newest events are: what was written last is damaged most easily.
  public static let checkedEvents: Int64 = 8_192

  /// Reads everything, or of a large file the newest events, so that the start takes a fraction of a second
  /// whatever its size. All that was not read now is checked when it is read: by who asks for a page of the
  /// history, and by ``load(_:after:)``.
  ///
  /// - Parameters:
  ///   - bytes: The largest file that is read as a whole.
  ///   - newest: How many events of a larger one are.
  /// - Throws: `damaged` where something is not what was written.
  public func check(
    whole bytes: Int64 = SQLiteEventStore.checkedBytes,
    newest: Int64 = SQLiteEventStore.checkedEvents
  ) throws(StoreError) {
    try StoreFile.guarded {
      try queue.inDatabase { db in
        let size = try Int64.fetchOne(
          db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        guard size ?? 0 <= bytes else {
          _ = try checkEvents(from: max(1, lastRow - newest + 1), db)
          return
        }
        let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
        guard found == "ok" else { throw StoreError.damaged("the file's structure") }
        for family in try checkEvents(from: 1, db) { _ = try loadCursors(family, db) }
      }
    }
  }

  /// The sum of each event from this row on, and that those of a family are one chain up to its head.
  private func checkEvents(from first: Int64, _ db: Database) throws -> [FamilyID] {
    var ends: [UInt64: (row: Int64, seq: UInt64)] = [:]
    let query = try RawStatement(
      db,
      """
      SELECT prior, family, seq, audience, command, at, payload, sum, id FROM event
      WHERE id >= ? ORDER BY id
      """)
    query.bind(1, first)
    while try query.next() {
      let event = try Self.event(query)
      let (family, prior) = (event.family.rawValue, query.integer(0))
      // The first one here of a family may go on from one that is not looked at.
      let isContinued = ends[family] == nil && 0 < prior && prior < first && event.seq > 1
      let end = isContinued ? (prior, event.seq - 1) : ends[family] ?? (0, 0)
      guard prior == end.0, event.seq == end.1 + 1 else {
        throw StoreError.damaged("family \(family) lacks event \(end.1 + 1)")
      }
      ends[family] = (query.integer(8), event.seq)
    }
    for (family, end) in ends {
      let head = try heads.find(family, db)
      guard head.row == end.row, head.seq == end.seq else {
        throw StoreError.damaged("the head of family \(family)")
      }
    }
    return ends.keys.sorted().map { FamilyID($0) }
  }
}
