import FamilyModel

/// The slots of families: an open-addressing hash table whose hash is one multiplication, because
/// each request looks up several times.
///
/// The hash has no seed. Only the operator, who provisions families and chooses their numbers,
/// could construct collisions.
struct SlotIndex: Sendable {
  private static let free: Int32 = -1

  private var keys: [FamilyID] = []
  /// The slot of each key, or ``free``, at the index of the key.
  private var slots: [Int32] = []
  private(set) var count = 0

  /// Maps all entries, in no particular order.
  func map<T>(_ body: ((key: FamilyID, value: Int)) -> T) -> [T] {
    slots.indices.filter { slots[$0] != Self.free }.map { body((keys[$0], Int(slots[$0]))) }
  }

  subscript(key: FamilyID) -> Int? {
    get {
      guard count > 0 else { return nil }
      let bucket = bucket(of: key)
      return slots[bucket] == Self.free ? nil : Int(slots[bucket])
    }
    set {
      guard let slot = newValue else {
        removeValue(forKey: key)
        return
      }
      if 4 * (count + 1) > 3 * keys.count { grow() }
      let bucket = bucket(of: key)
      if slots[bucket] == Self.free { count += 1 }
      (keys[bucket], slots[bucket]) = (key, Int32(slot))
    }
  }

  /// The bucket of the key, or the free bucket where it belongs.
  private func bucket(of key: FamilyID) -> Int {
    var bucket = firstBucket(of: key)
    while slots[bucket] != Self.free, keys[bucket] != key {
      bucket = (bucket + 1) & (keys.count - 1)
    }
    return bucket
  }

  /// The bucket where the search for the key starts.
  private func firstBucket(of key: FamilyID) -> Int {
    Int(truncatingIfNeeded: key.rawValue.scattered) & (keys.count - 1)
  }

  private mutating func grow() {
    let old = map { $0 }
    let size = max(16, 2 * keys.count)
    keys = Array(repeating: FamilyID(0), count: size)
    slots = Array(repeating: Self.free, count: size)
    for (key, slot) in old {
      let bucket = bucket(of: key)
      (keys[bucket], slots[bucket]) = (key, Int32(slot))
    }
  }

  /// Removes the key. Later entries move up, because a search ends at the first free bucket.
  @discardableResult
  mutating func removeValue(forKey key: FamilyID) -> Int? {
    guard count > 0 else { return nil }
    var hole = bucket(of: key)
    let slot = slots[hole]
    guard slot != Self.free else { return nil }
    count -= 1
    var next = hole
    while true {
      next = (next + 1) & (keys.count - 1)
      guard slots[next] != Self.free else { break }
      let distance = (next - firstBucket(of: keys[next])) & (keys.count - 1)
      guard distance >= (next - hole) & (keys.count - 1) else { continue }
      (keys[hole], slots[hole]) = (keys[next], slots[next])
      hole = next
    }
    slots[hole] = Self.free
    return Int(slot)
  }
}
