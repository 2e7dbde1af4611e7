import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  /// The largest file, in bytes, that ``check(whole:newest:)`` reads as a whole.
  public static let checkedBytes: Int64 = 32 << 20
  /// The newest events that are checked in a larger file, because recent writes are damaged most
  /// often.
  public static let checkedEvents: Int64 = 8_192

  /// Verifies the whole file, or the newest events of a large file.
  ///
  /// The limits keep a start below a second for any size of file. Every other record is verified
  /// when it is read, by ``events(of:_:after:limit:bytes:)`` or ``load(_:after:)``.
  ///
  /// - Parameters:
  ///   - bytes: The largest file that is read as a whole.
  ///   - newest: The number of events that are verified in a larger file.
  /// - Throws: `damaged` if a checksum does not match, or a chain of events has a gap.
  public func check(
    whole bytes: Int64 = SQLiteEventStore.checkedBytes,
    newest: Int64 = SQLiteEventStore.checkedEvents
  ) throws(StoreError) {
    try StoreFile.translatingErrors {
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
        try checkIndex(db)
      }
    }
  }

  /// Verifies that the index has each command up to its family's last mark.
  private func checkIndex(_ db: Database) throws {
    let missing = try Int64.fetchOne(
      db,
      sql: """
        SELECT count(*) FROM event
        WHERE seq <= (SELECT max(seq) FROM mark WHERE mark.family = event.family)
        AND NOT EXISTS (
          SELECT 1 FROM command
          WHERE command.family = event.family AND command.device = event.device
          AND command.id = event.command)
        """)
    guard missing == 0 else { throw StoreError.damaged("the index of commands") }
  }

  /// Verifies the checksum of each event from a row on, and that each family's events form one
  /// chain to its head.
  ///
  /// - Returns: The families of these events, ascending.
  private func checkEvents(from first: Int64, _ db: Database) throws -> [FamilyID] {
    var ends: [UInt64: (row: Int64, seq: UInt64)] = [:]
    let query = try RawStatement(
      db,
      """
      SELECT prior, family, seq, audience, device, command, at, payload, sum, id FROM event
      WHERE id >= ? ORDER BY id
      """)
    query.bind(1, first)
    while try query.next() {
      let event = try Self.event(query)
      let (family, prior) = (event.family.rawValue, query.integer(0))
      // A family's first event here may continue one before the checked rows.
      let isContinued = ends[family] == nil && 0 < prior && prior < first && event.seq > 1
      let end = isContinued ? (prior, event.seq - 1) : ends[family] ?? (0, 0)
      guard prior == end.0, event.seq == end.1 + 1 else {
        throw StoreError.damaged("family \(family) lacks event \(end.1 + 1)")
      }
      ends[family] = (query.integer(9), event.seq)
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
