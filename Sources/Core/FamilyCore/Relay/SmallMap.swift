/// A map of a few entries: a sorted array, which takes a third of the memory of a dictionary and is read
/// faster as long as it is short. Its order is that of the keys.
struct SmallMap<Key: Comparable & Hashable & Sendable, Value: Hashable & Sendable>: Hashable,
  Sendable
{
  struct Entry: Hashable, Sendable {
    var key: Key
    var value: Value
  }

  private(set) var entries: [Entry] = []

  /// An empty map.
  init() {}

  /// The map of these entries, which are ascending by key.
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

  /// Whether the key has a value: it is not copied.
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

  /// Takes the value out.
  mutating func removeValue(forKey key: Key) -> Value? {
    let index = index(of: key)
    guard index < entries.count, entries[index].key == key else { return nil }
    return index == entries.count - 1 ? entries.removeLast().value : entries.remove(at: index).value
  }

  /// Empties it; the memory stays for the next ones.
  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Becomes the same as the other one, in its own memory: shared, it would be copied at the next change.
  mutating func copy(_ other: SmallMap) {
    removeAll()
    entries.append(contentsOf: other.entries)
  }

  /// Keeps no room for more.
  mutating func fit() { entries = entries.fitted }

  /// Nearly always at the end, which costs a tenth.
  private mutating func insert(_ entry: Entry, at index: Int) {
    if index == entries.count { entries.append(entry) } else { entries.insert(entry, at: index) }
  }

  /// Where the key is, or would be.
  private func index(of key: Key) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Array {
  /// The same elements in a buffer without room for more.
  var fitted: [Element] {
    withUnsafeBufferPointer { elements in
      Array(unsafeUninitializedCapacity: elements.count) { buffer, count in
        count = buffer.initialize(fromContentsOf: elements)
      }
    }
  }
}
