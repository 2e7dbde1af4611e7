import FamilyModel
import RelayStore

/// The cursors of one shard that are not yet written to the store.
///
/// A crash may lose them, because devices send their cursors again. Cursors therefore wait in
/// memory and are written in rounds: one family's cursors together, families in ascending order,
/// some families with each commit.
struct CursorWriteBehind {
  /// When the next round begins; `nil` if no cursor waits.
  private(set) var due: Instant?
  private var pending: [FamilyID: [StoredCursor]] = [:]
  /// The families of the current round, ascending, and how many of them are written.
  private var round: [FamilyID] = []
  private var writtenCount = 0
  /// Families written with a commit that has no events.
  private let familiesPerIdleCommit: Int

  /// - Parameter shards: The number of shards, which divide the limits of a commit among them.
  init(shards: Int) { familiesPerIdleCommit = RelayLimits.cursorFamilies.perIdleCommit / shards }

  /// Whether no cursor waits.
  var isEmpty: Bool { pending.isEmpty }

  /// The family's cursors that wait. They are newer than those in the store.
  func cursors(of family: FamilyID) -> [StoredCursor] { pending[family] ?? [] }

  /// Adds a cursor, in place of an older one of the same device and audience.
  mutating func add(_ new: StoredCursor, now: Instant) {
    if due == nil { due = now + RelayLimits.cursorDelay }
    let index = pending.index(forKey: new.family)
    guard let index else { return pending[new.family] = [new] }
    let old = pending.values[index].firstIndex {
      $0.device == new.device && $0.cursor.audience == new.cursor.audience
    }
    if let old {
      pending.values[index][old] = new
    } else {
      pending.values[index].append(new)
    }
  }

  /// Moves the next round forward to `time` if it is later.
  mutating func writeNoLater(than time: Instant) { due = due.map { min($0, time) } }

  /// Removes the cursors to write with a commit of `eventCount` events.
  ///
  /// - Returns: The next cursors of the round; empty if no round is due.
  mutating func removeDue(eventCount: Int, now: Instant) -> [StoredCursor] {
    guard let due, due <= now else { return [] }
    if writtenCount == round.count {
      round = pending.keys.sorted()
      writtenCount = 0
    }
    var cursors: [StoredCursor] = []
    let limit =
      eventCount == 0 ? familiesPerIdleCommit : eventCount * RelayLimits.cursorFamilies.perEvent
    let end = min(round.count, writtenCount + limit)
    for family in round[writtenCount..<end] { cursors += pending.removeValue(forKey: family) ?? [] }
    writtenCount = end
    if writtenCount == round.count {
      self.due = pending.isEmpty ? nil : now + RelayLimits.cursorDelay
    }
    return cursors
  }
}
