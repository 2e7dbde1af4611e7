import FamilyModel
import RelayStore
import SystemClock

/// Cursors that are not on disk yet. They may be lost, since devices tell theirs again; so they are not
/// worth a page of the disk each: a family's go together, and families in their order, some with each commit.
struct CursorWriteBehind {
  /// When they are written even if no event comes; `nil`: none wait.
  private(set) var due: Instant?
  private var waiting: [FamilyID: [StoredCursor]] = [:]
  /// What is being written, ascending, and how far that is.
  private var queue: [FamilyID] = []
  private var position = 0
  /// Families of a commit of cursors alone.
  private let alone: Int

  /// One of `share` backlogs that are written together.
  init(share: Int) { alone = RelayLimits.cursorFamilies.alone / share }

  var isEmpty: Bool { waiting.isEmpty }

  /// The family's cursors that wait: newer than those in the store.
  func cursors(of family: FamilyID) -> [StoredCursor] { waiting[family] ?? [] }

  mutating func add(_ new: StoredCursor) {
    if due == nil { due = .now + RelayLimits.cursorDelay }
    let index = waiting.index(forKey: new.family)
    guard let index else { return waiting[new.family] = [new] }
    let old = waiting.values[index].firstIndex {
      $0.device == new.device && $0.cursor.audience == new.cursor.audience
    }
    if let old {
      waiting.values[index][old] = new
    } else {
      waiting.values[index].append(new)
    }
  }

  /// They are written at `time`, unless they are before.
  mutating func hasten(_ time: Instant) { due = due.map { min($0, time) } }

  /// Takes what goes with a commit of so many events; nothing, unless it is time. All that waits now is a
  /// round of writing, some of it with each commit.
  mutating func take(events: Int, now: Instant) -> [StoredCursor] {
    guard let due, due <= now else { return [] }
    if position == queue.count {
      queue = waiting.keys.sorted()
      position = 0
    }
    var taken: [StoredCursor] = []
    let most = events == 0 ? alone : events * RelayLimits.cursorFamilies.perEvent
    let end = min(queue.count, position + most)
    for family in queue[position..<end] { taken += waiting.removeValue(forKey: family) ?? [] }
    position = end
    if position == queue.count { self.due = waiting.isEmpty ? nil : now + RelayLimits.cursorDelay }
    return taken
  }
}
