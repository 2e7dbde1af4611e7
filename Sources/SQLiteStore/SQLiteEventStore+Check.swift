import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  /// The largest file, in bytes, that is read as a whole at the start; of a larger one, each family is when
  /// it is loaded.
  public static let checkedBytes: Int64 = 1 << 30

  /// Reads everything, unless that is more than ``checkedBytes``.
  ///
  /// - Throws: `damaged` where something is not what was written.
  public func check() throws(StoreError) {
    try Database.guarded {
      try queue.inDatabase { db in
        let size = try Int64.fetchOne(
          db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        guard size ?? 0 <= Self.checkedBytes else { return }
        let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
        guard found == "ok" else { throw StoreError.damaged("the file's structure") }
        let families = try checkEvents(db)
        for family in families {
          _ = try loadCursors(family, db)
          _ = try loadSnapshot(family, db)
        }
      }
    }
  }

  /// Each event's sum, and that the events of a family are one chain from its first to its head.
  private func checkEvents(_ db: GRDB.Database) throws -> [FamilyID] {
    var ends: [UInt64: (row: Int64, seq: UInt64)] = [:]
    let query = try Prepared(
      db,
      "SELECT prior, family, seq, audience, command, at, payload, sum, id FROM event ORDER BY id")
    while try query.next() {
      let event = try Self.event(query)
      let family = event.family.rawValue
      let end = ends[family] ?? (0, 0)
      guard query.integer(0) == end.row, event.seq == end.seq + 1 else {
        throw StoreError.damaged("family \(family) lacks event \(end.seq + 1)")
      }
      ends[family] = (query.integer(8), event.seq)
    }
    for (family, end) in ends {
      let head = try head(family, db)
      guard head.row == end.row, head.seq == end.seq else {
        throw StoreError.damaged("the head of family \(family)")
      }
    }
    return ends.keys.sorted().map { FamilyID($0) }
  }
}
