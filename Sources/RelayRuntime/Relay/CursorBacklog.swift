import FamilyModel
import RelayStore

/// Cursors that are not on disk yet. They may be lost, since devices tell theirs again; so they are not
/// worth a page of the disk each: a family's go together, and families in their order, some with each commit.
struct CursorBacklog {
  private var waiting: [FamilyID: [StoredCursor]] = [:]
  /// What is being written, ascending, and how far that is.
  private var queue: [FamilyID] = []
  private var position = 0

  var isEmpty: Bool { waiting.isEmpty }
  /// Whether a round of writing goes on.
  var isWriting: Bool { position < queue.count }

  /// The family's cursors that wait: newer than those in the store.
  func cursors(of family: FamilyID) -> [StoredCursor] { waiting[family] ?? [] }

  mutating func add(_ new: StoredCursor) {
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

  /// Begins to write all that waits, unless that goes on already.
  mutating func begin() {
    guard !isWriting else { return }
    queue = waiting.keys.sorted()
    position = 0
  }

  /// Takes the cursors of so many families out of a round that goes on.
  mutating func take(families: Int) -> [StoredCursor] {
    var taken: [StoredCursor] = []
    let end = min(queue.count, position + families)
    for family in queue[position..<end] { taken += waiting.removeValue(forKey: family) ?? [] }
    position = end
    return taken
  }
}
