import FamilyModel

/// A map that keeps most values in their packed form, so that a long history takes little memory, and
/// no time at a start.
///
/// *recent* → (enough recent values) *packed* → (changed) *recent*.
struct PackedMap<Key, Value>: Sendable
where Key: Packable & Hashable & Comparable & Sendable, Value: Packable & Sendable {
  private var recent: [Key: Value] = [:]
  /// The keys of the packed values, ascending.
  private var keys: [Key] = []
  private var values = PackedValues<Value>()

  init() {}

  subscript(key: Key) -> Value? {
    get {
      if let value = recent[key] { return value }
      return packedIndex(key).map { values[$0] }
    }
    set {
      guard let newValue else { return }
      recent[key] = newValue
      if Limits.mustPack(recent.count, beside: keys.count) {
        pack()
      }
    }
  }

  /// Whether the map has a value for the key.
  func holds(_ key: Key) -> Bool { recent[key] != nil || packedIndex(key) != nil }

  /// All values.
  var all: [Key: Value] {
    var all = recent
    for (index, key) in keys.enumerated() where all[key] == nil { all[key] = values[index] }
    return all
  }

  private func packedIndex(_ key: Key) -> Int? {
    let index = keys.lowerBound { $0 < key }
    return index < keys.count && keys[index] == key ? index : nil
  }

  /// Packs the recent values.
  private mutating func pack() {
    guard !recent.isEmpty else { return }
    let changed = recent.keys.sorted()
    let added = PackedValues(changed.map { recent[$0]! })
    var (merged, packed) = ([Key](), PackedValues<Value>())
    merged.reserveCapacity(keys.count + changed.count)
    packed.reserveCapacity(like: values, added)
    var next = 0
    for (index, key) in changed.enumerated() {
      while next < keys.count, keys[next] < key {
        merged.append(keys[next])
        packed.append(next, of: values)
        next += 1
      }
      if next < keys.count, keys[next] == key { next += 1 }
      merged.append(key)
      packed.append(index, of: added)
    }
    while next < keys.count {
      merged.append(keys[next])
      packed.append(next, of: values)
      next += 1
    }
    (recent, keys, values) = ([:], merged, packed)
  }
}

extension PackedMap: Packable {
  func pack(_ packer: inout Packer) {
    var packed = self
    packed.pack()
    packer.add(packed.keys)
    packer.add(packed.values)
  }

  init(_ packed: inout Unpacker) {
    keys = packed.value()
    values = packed.value()
    if keys.count != values.count { packed.fail() }
  }
}

/// As a dictionary: which values are packed is no part of the state.
extension PackedMap: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: all) }
}
