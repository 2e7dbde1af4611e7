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
      let index = index(of: key)
      let isThere = index < entries.count && entries[index].key == key
      switch (newValue, isThere) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): insert(Entry(key: key, value: value), at: index)
      case (nil, true): _ = removeValue(forKey: key)
      case (nil, false): break
      }
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
    if entries.count > 1 { return entries.remove(at: index).value }
    // An empty one keeps no memory.
    let value = entries[0].value
    entries = []
    return value
  }

  mutating func removeAll() { entries = [] }

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
