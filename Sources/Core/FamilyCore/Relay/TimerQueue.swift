public import FamilyModel

/// A priority queue of deadlines, as a binary heap: a relay holds many thousand families, and a
/// host many thousand devices.
///
/// A key has at most one deadline. An entry that an earlier deadline supersedes stays in the heap
/// until it reaches the top; `due` no longer names it. The methods are inlinable so that other
/// modules specialize them: each step of a device uses them.
public struct TimerQueue<Key: Hashable & Comparable & Sendable>: Sendable {
  @usableFromInline
  struct Entry: Comparable, Sendable {
    @usableFromInline var at: Instant
    @usableFromInline var key: Key

    @inlinable
    init(at: Instant, key: Key) {
      self.at = at
      self.key = key
    }

    @inlinable
    static func < (a: Entry, b: Entry) -> Bool {
      a.at != b.at ? a.at < b.at : a.key < b.key
    }
  }

  @usableFromInline var due: [Key: Instant] = [:]
  @usableFromInline var heap: [Entry] = []

  /// Creates an empty queue.
  @inlinable
  public init() {}

  /// The number of keys with a deadline.
  var count: Int { due.count }

  /// The earliest deadline.
  @inlinable
  public var deadline: Instant? { heap.first?.at }

  /// Whether the key has a deadline.
  func holds(_ key: Key) -> Bool { due[key] != nil }

  /// Sets the key's deadline to `at`, unless an earlier one is set.
  @inlinable
  public mutating func set(_ key: Key, _ at: Instant) {
    if let known = due[key], known <= at { return }
    due[key] = at
    heap.append(Entry(at: at, key: key))
    rise()
    // Superseded entries must not outnumber valid ones. A sorted array is a heap.
    if heap.count > 2 * due.count + 64 { heap = heap.filter { due[$0.key] == $0.at }.sorted() }
  }

  /// Removes the key's deadline.
  mutating func remove(_ key: Key) {
    due[key] = nil
    dropStale()
  }

  /// Removes and returns a key whose deadline has passed, the earliest first.
  @inlinable
  public mutating func next(_ now: Instant) -> Key? {
    dropStale()
    guard let first = heap.first, first.at <= now else { return nil }
    pop()
    due[first.key] = nil
    dropStale()
    return first.key
  }

  /// Moves every later deadline forward to `at`.
  public mutating func hasten(_ at: Instant) {
    heap = heap.filter { due[$0.key] == $0.at }
      .map { Entry(at: min($0.at, at), key: $0.key) }.sorted()
    for entry in heap { due[entry.key] = entry.at }
  }

  @inlinable
  mutating func dropStale() {
    while let first = heap.first, due[first.key] != first.at { pop() }
  }

  @inlinable
  mutating func rise() {
    var index = heap.count - 1
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  @inlinable
  mutating func pop() {
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
