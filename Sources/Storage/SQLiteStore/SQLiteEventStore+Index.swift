import GRDB
public import RelayStore

/// The marks, and the index of commands: derived from the log.
extension SQLiteEventStore {
  /// Whether a mark is wrong or missing, or the index lacks a command.
  func needsIndex(_ db: Database) throws -> Bool {
    for sql in [
      "SELECT 1 FROM mark WHERE \(Self.isWrong) LIMIT 1",
      "SELECT 1 FROM event WHERE \(Self.isMarked) AND NOT EXISTS "
        + "(SELECT 1 FROM mark WHERE mark.family = event.family AND mark.seq = event.seq) LIMIT 1",
      "SELECT 1 FROM event WHERE \(Self.isNotIndexed) LIMIT 1",
    ] where try Int64.fetchOne(db, sql: sql) != nil { return true }
    return false
  }

  /// Corrects the marks, and adds the commands that the index lacks.
  public func rebuildIndex() throws(StoreError) {
    try awaitingLock { db in
      try db.commit {
        for sql in [
          "DELETE FROM mark WHERE \(Self.isWrong)",
          """
          INSERT OR IGNORE INTO mark
          SELECT family, seq, id FROM event WHERE \(Self.isMarked)
          """,
          """
          INSERT OR IGNORE INTO command
          SELECT family, device, command, id FROM event WHERE \(Self.isNotIndexed)
          """,
        ] { try db.execute(sql: sql) }
      }
    }
  }

  /// Holds for events that have a mark.
  private static let isMarked = "seq % \(markEvery) = 0"

  /// Holds for marks that name another event.
  private static let isWrong = """
    NOT EXISTS (
      SELECT 1 FROM event
      WHERE event.id = mark.row AND event.family = mark.family AND event.seq = mark.seq)
    """

  /// Holds for events that the index lacks. The index has each command up to its family's last mark.
  private static let isNotIndexed = """
    seq <= (SELECT max(seq) FROM mark WHERE mark.family = event.family)
    AND NOT EXISTS (
      SELECT 1 FROM command
      WHERE command.family = event.family AND command.device = event.device
      AND command.id = event.command)
    """
}
