import FamilyModel

/// Which family wants to be looked at when: a heap, since a relay holds many thousands.
///
/// A family has at most one moment. An entry that was overtaken by an earlier one stays in the heap until
/// it comes up, and is recognised by not being in `due`.
struct TimerQueue: Sendable {
  private struct Entry: Comparable {
    var at: Instant
    var family: FamilyID
    static func < (a: Entry, b: Entry) -> Bool { (a.at, a.family) < (b.at, b.family) }
  }

  private var due: [FamilyID: Instant] = [:]
  private var heap: [Entry] = []

  /// How many families wait.
  var count: Int { due.count }

  /// The earliest moment.
  var deadline: Instant? { heap.first?.at }

  /// Whether the family waits.
  func holds(_ family: FamilyID) -> Bool { due[family] != nil }

  /// Wants a look at `at`, unless an earlier one is set.
  mutating func set(_ family: FamilyID, _ at: Instant) {
    if let known = due[family], known <= at { return }
    due[family] = at
    heap.append(Entry(at: at, family: family))
    rise()
    // What was overtaken must not outgrow what is wanted. A sorted array is a heap.
    if heap.count > 2 * due.count + 64 { heap = heap.filter { due[$0.family] == $0.at }.sorted() }
  }

  /// Forgets the family.
  mutating func remove(_ family: FamilyID) {
    due[family] = nil
    dropStale()
  }

  /// Takes the next family that is due.
  mutating func next(_ now: Instant) -> FamilyID? {
    dropStale()
    guard let first = heap.first, first.at <= now else { return nil }
    pop()
    due[first.family] = nil
    dropStale()
    return first.family
  }

  /// Nobody waits longer than until `at`.
  mutating func hasten(_ at: Instant) {
    heap = heap.filter { due[$0.family] == $0.at }
      .map { Entry(at: min($0.at, at), family: $0.family) }.sorted()
    for entry in heap { due[entry.family] = entry.at }
  }

  private mutating func dropStale() {
    while let first = heap.first, due[first.family] != first.at { pop() }
  }

  private mutating func rise() {
    var index = heap.count - 1
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func pop() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && heap[child] < heap[least] { least = child }
      if least == index { return }
      heap.swapAt(index, least)
      index = least
    }
  }
}
