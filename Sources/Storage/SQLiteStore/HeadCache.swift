import FamilyModel
import GRDB
import RelayStore

/// The row and sequence number of each family's newest event (its head).
///
/// The log is written in order of arrival and has no index by family. Each event names the row of
/// the family's preceding event, so a family's events are read backwards from its head.
///
/// A head is `unknown` → (lookup) `clean` → (commit) `dirty` → (a slice of a cycle) `clean`. Dirty
/// heads are written behind, one slice per commit, ordered by family so that heads of one page are
/// written together. After a crash, the heads are rebuilt from the events after the last complete
/// cycle.
package struct HeadCache {
  struct Head: Equatable {
    var row: Int64
    var seq: UInt64
    var isDirty = false
  }

  /// Dirty families that start a cycle. With more families, more heads share a page.
  package static let cycleFamilies = 65_536
  /// Events since the last cycle that start a cycle. With more events, the next start reads more of
  /// them.
  static let cycleRows: Int64 = 262_144
  /// Heads that a commit writes per event during a cycle.
  static let headsPerEvent = 4
  /// Heads in memory. At this number, clean heads are evicted.
  static let capacity = 1 << 20

  private let cycleFamilies: Int
  private var heads: [UInt64: Head] = [:]
  /// The heads before the current transaction, for its rollback.
  private var undoLog: [(family: UInt64, head: Head?)] = []
  /// Families that became dirty since the cycle started.
  private var newlyDirty: [UInt64] = []
  /// The families that the cycle writes, ascending.
  private var cycle: [UInt64] = []
  /// Families of the cycle that are written.
  private var position = 0
  /// The newest row when the cycle started.
  private var cycleRow: Int64 = 0

  /// - Parameter cycleFamilies: See ``cycleFamilies``.
  init(cycleFamilies: Int) { self.cycleFamilies = cycleFamilies }

  subscript(family: UInt64) -> Head? { heads[family] }

  /// The family's head; row and seq are 0 if the family has no events.
  ///
  /// - Throws: `damaged` if the stored head is impossible, or absent for a family that has a mark.
  mutating func find(_ family: UInt64, _ db: Database) throws -> Head {
    let head = try findLoaded(family, db)
    guard try head.seq > 0 || !Self.hasMark(family, db) else {
      throw StoreError.damaged("the head of family \(family)")
    }
    return head
  }

  /// The head of a family whose events were loaded before, so that ``find(_:_:)`` has checked the marks.
  ///
  /// - Throws: `damaged` if the stored head is impossible.
  mutating func findLoaded(_ family: UInt64, _ db: Database) throws -> Head {
    if let cached = heads[family] { return cached }
    let query = try RawStatement(db, "SELECT row, seq, sum FROM head WHERE family = ?")
    query.bind(1, family.signed)
    guard try query.next() else { return Head(row: 0, seq: 0) }
    defer { query.reset() }
    let head = Head(row: query.integer(0), seq: query.number(1))
    // Each event has its own row, so a family has at most as many events as rows.
    guard Int64(Self.checksum(family, head)) == query.integer(2), head.row > 0,
      1...UInt64(head.row) ~= head.seq
    else {
      throw StoreError.damaged("the head of family \(family)")
    }
    if heads.count >= Self.capacity { heads = heads.filter { $0.value.isDirty } }
    heads[family] = head
    return head
  }

  private static func hasMark(_ family: UInt64, _ db: Database) throws -> Bool {
    let query = try RawStatement(db, "SELECT 1 FROM mark WHERE family = ? LIMIT 1")
    query.bind(1, family.signed)
    defer { query.reset() }
    return try query.next()
  }

  /// The checksum of a stored head.
  package static func checksum(_ family: UInt64, row: Int64, seq: UInt64) -> UInt32 {
    var sum = Checksum()
    sum.add(family)
    sum.add(UInt64(bitPattern: row))
    sum.add(seq)
    return sum.value
  }

  static func checksum(_ family: UInt64, _ head: Head) -> UInt32 {
    checksum(family, row: head.row, seq: head.seq)
  }

  /// The row up to which all heads are stored; 0 before the first cycle.
  ///
  /// - Throws: `damaged` if it cannot be right.
  static func writtenRow(lastRow: Int64, _ db: Database) throws -> Int64 {
    let query = try RawStatement(db, "SELECT row, sum FROM heads_written")
    guard try query.next() else { return 0 }
    defer { query.reset() }
    let row = query.integer(0)
    guard row <= lastRow, Int64(checksum(0, row: row, seq: 0)) == query.integer(1) else {
      throw StoreError.damaged("the row up to which heads are stored")
    }
    return row
  }

  /// Moves the family's head to a newer event.
  mutating func advance(_ family: UInt64, row: Int64, seq: UInt64) {
    let old = heads.updateValue(Head(row: row, seq: seq, isDirty: true), forKey: family)
    if old?.isDirty != true { newlyDirty.append(family) }
    undoLog.append((family, old))
  }

  /// Keeps all changes since the last commit. The heads of `families` were written.
  mutating func commit(written families: ArraySlice<UInt64>) {
    undoLog.removeAll(keepingCapacity: true)
    for family in families { heads[family]?.isDirty = false }
    position += families.count
  }

  /// Reverts all changes since the last commit. A cycle may then write clean families, which is
  /// harmless.
  mutating func rollBack() {
    for (family, head) in undoLog.reversed() { heads[family] = head }
    undoLog = []
  }

  /// Replaces all heads, none of which is dirty.
  mutating func replaceAll(with positions: ReadPositions) {
    heads.removeAll(keepingCapacity: true)
    for (family, position) in positions.newest {
      heads[family.rawValue] = Head(row: position.row, seq: position.seq)
    }
  }

  /// The families whose heads the next commit writes.
  ///
  /// - Parameters:
  ///   - events: Number of events in the commit.
  ///   - lastRow: The newest row before the commit.
  /// - Returns: The families, and the row up to which all heads are written if the slice completes
  ///   a cycle.
  mutating func slice(events: Int, lastRow: Int64)
    -> (families: ArraySlice<UInt64>, completedRow: Int64?)
  {
    if position == cycle.count {
      let isDue = newlyDirty.count >= cycleFamilies || lastRow - cycleRow >= Self.cycleRows
      guard isDue, !newlyDirty.isEmpty else { return ([], nil) }
      cycle = newlyDirty.sorted()
      newlyDirty = []
      position = 0
      cycleRow = lastRow
    }
    let end = min(cycle.count, position + max(1, events) * Self.headsPerEvent)
    return (cycle[position..<end], end == cycle.count ? cycleRow : nil)
  }
}
