/// A map of few entries in a sorted array. A short array is read faster than a dictionary and takes
/// a third of its memory. Entries ascend by key.
struct SmallMap<Key: Comparable & Hashable & Sendable, Value: Hashable & Sendable>: Hashable,
  Sendable
{
  struct Entry: Hashable, Sendable {
    var key: Key
    var value: Value
  }

  private(set) var entries: [Entry] = []

  /// Creates an empty map.
  init() {}

  /// Creates a map from entries.
  ///
  /// Precondition: the entries ascend by key.
  init(sorted entries: [Entry]) { self.entries = entries }

  var keys: [Key] { entries.map(\.key) }

  subscript(key: Key) -> Value? {
    get {
      let index = index(of: key)
      return index < entries.count && entries[index].key == key ? entries[index].value : nil
    }
    set {
      if let newValue { set(key, newValue) } else { _ = removeValue(forKey: key) }
    }
  }

  /// Whether the key has a value; does not copy the value.
  func holds(_ key: Key) -> Bool {
    let index = index(of: key)
    return index < entries.count && entries[index].key == key
  }

  mutating func set(_ key: Key, _ value: Value) {
    let index = index(of: key)
    if index < entries.count, entries[index].key == key {
      entries[index].value = value
    } else {
      insert(Entry(key: key, value: value), at: index)
    }
  }

  subscript(key: Key, default value: Value) -> Value {
    get { self[key] ?? value }
    _modify {
      let index = index(of: key)
      if index == entries.count || entries[index].key != key {
        insert(Entry(key: key, value: value), at: index)
      }
      yield &entries[index].value
    }
  }

  /// Removes and returns the key's value.
  mutating func removeValue(forKey key: Key) -> Value? {
    let index = index(of: key)
    guard index < entries.count, entries[index].key == key else { return nil }
    return index == entries.count - 1 ? entries.removeLast().value : entries.remove(at: index).value
  }

  /// Removes all entries and keeps the capacity.
  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Copies the entries of another map into this map's own buffer. A shared buffer would be copied
  /// at the next change.
  mutating func copy(_ other: SmallMap) {
    removeAll()
    entries.append(contentsOf: other.entries)
  }

  /// Releases unused capacity.
  mutating func trimCapacity() { entries = entries.trimmed }

  // Nearly all insertions are at the end; `append` costs a tenth of `insert`.
  private mutating func insert(_ entry: Entry, at index: Int) {
    if index == entries.count { entries.append(entry) } else { entries.insert(entry, at: index) }
  }

  /// The index of the key, or the index at which it belongs.
  private func index(of key: Key) -> Int {
    entries.lowerBound { $0.key < key }
  }
}

extension RandomAccessCollection where Index == Int {
  /// The index of the first element that is not before a place in their order: a binary search.
  ///
  /// Precondition: the elements before the place precede all others.
  @inline(__always)
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Array {
  /// The elements in a buffer without unused capacity.
  var trimmed: [Element] {
    withUnsafeBufferPointer { elements in
      Array(unsafeUninitializedCapacity: elements.count) { buffer, count in
        count = buffer.initialize(fromContentsOf: elements)
      }
    }
  }
}
