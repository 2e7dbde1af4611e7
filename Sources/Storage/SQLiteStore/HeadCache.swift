import GRDB
import RelayStore

/// Where each family's newest event is. The log itself is written in the order of arrival and has no index
/// of families: from its newest event a family's others are reached one by one.
///
/// A head is `unknown` → (lookup) `clean` → (commit) `dirty` → (a slice of a cycle) `clean`. Dirty heads are
/// written behind, a slice with each commit, in the order of families, so that those of one page go
/// together. After a crash the events behind the last complete cycle tell them again.
struct HeadCache {
  struct Head: Equatable {
    var row: Int64
    var seq: UInt64
    var isDirty = false
  }

  /// Dirty families that begin a cycle, and events since the last one that do, too: the more families, the more
  /// of them share a page; the more events, the more have to be read at the next start.
  static let cycleFamilies = 65_536
  static let cycleRows: Int64 = 262_144
  /// Heads that are written for each event of a commit while a cycle goes on.
  static let perEvent = 4
  /// Heads in memory; those that are clean are read again afterwards.
  static let kept = 1 << 20

  private var heads: [UInt64: Head] = [:]
  /// What the heads were before the transaction that goes on.
  private var before: [(family: UInt64, head: Head?)] = []
  /// Dirty since the cycle began.
  private var fresh: [UInt64] = []
  /// What the cycle is to write, ascending, and how far it is.
  private var queue: [UInt64] = []
  private var position = 0
  private var cycleRow: Int64 = 0

  subscript(family: UInt64) -> Head? { heads[family] }

  /// The family's newest event; row and seq are zero where there is none.
  mutating func find(_ family: UInt64, _ db: Database) throws -> Head {
    if let known = heads[family] { return known }
    let query = try RawStatement(db, "SELECT row, seq FROM head WHERE family = ?")
    query.bind(1, family.signed)
    guard try query.next() else { return Head(row: 0, seq: 0) }
    defer { query.reset() }
    let head = Head(row: query.integer(0), seq: query.number(1))
    // Each event has a row of its own.
    guard head.row > 0, 1...UInt64(head.row) ~= head.seq else {
      throw StoreError.damaged("the head of family \(family)")
    }
    if heads.count >= Self.kept { heads = heads.filter { $0.value.isDirty } }
    heads[family] = head
    return head
  }

  /// The family has a newer event.
  mutating func advance(_ family: UInt64, row: Int64, seq: UInt64) {
    let old = heads.updateValue(Head(row: row, seq: seq, isDirty: true), forKey: family)
    if old?.isDirty != true { fresh.append(family) }
    before.append((family, old))
  }

  /// What was done since the last commit stays.
  mutating func commit(written families: ArraySlice<UInt64>) {
    before.removeAll(keepingCapacity: true)
    for family in families { heads[family]?.isDirty = false }
    position += families.count
  }

  /// What was done since the last commit is undone. Families may be written that need not be.
  mutating func rollBack() {
    for (family, head) in before.reversed() { heads[family] = head }
    before = []
  }

  /// What to write with a commit of so many events, and the row up to which all heads are then written.
  mutating func slice(events: Int, lastRow: Int64) -> (families: ArraySlice<UInt64>, done: Int64?) {
    if position == queue.count {
      let isDue = fresh.count >= Self.cycleFamilies || lastRow - cycleRow >= Self.cycleRows
      guard isDue, !fresh.isEmpty else { return ([], nil) }
      queue = fresh.sorted()
      fresh = []
      position = 0
      cycleRow = lastRow
    }
    let end = min(queue.count, position + max(1, events) * Self.perEvent)
    return (queue[position..<end], end == queue.count ? cycleRow : nil)
  }
}
