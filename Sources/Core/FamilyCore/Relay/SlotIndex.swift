import FamilyModel

/// The places of families: a dictionary with a hash of one multiplication, since each request looks several
/// times. Who provisions families chooses their numbers: nobody else can make them collide.
struct SlotIndex: Sendable {
  private static let free: Int32 = -1

  private var keys: [FamilyID] = []
  /// Beside each key its place, or ``free``.
  private var places: [Int32] = []
  private(set) var count = 0

  /// Of all of them, in no order that means anything.
  func map<T>(_ body: ((key: FamilyID, value: Int)) -> T) -> [T] {
    places.indices.filter { places[$0] != Self.free }.map { body((keys[$0], Int(places[$0]))) }
  }

  subscript(key: FamilyID) -> Int? {
    get {
      guard count > 0 else { return nil }
      let slot = slot(of: key)
      return places[slot] == Self.free ? nil : Int(places[slot])
    }
    set {
      guard let place = newValue else {
        removeValue(forKey: key)
        return
      }
      if 4 * (count + 1) > 3 * keys.count { grow() }
      let slot = slot(of: key)
      if places[slot] == Self.free { count += 1 }
      (keys[slot], places[slot]) = (key, Int32(place))
    }
  }

  /// Where the key is, or would be.
  private func slot(of key: FamilyID) -> Int {
    var slot = home(of: key)
    while places[slot] != Self.free, keys[slot] != key { slot = (slot + 1) & (keys.count - 1) }
    return slot
  }

  /// Where the search for the key begins.
  private func home(of key: FamilyID) -> Int {
    Int(truncatingIfNeeded: key.rawValue.scattered) & (keys.count - 1)
  }

  private mutating func grow() {
    let old = map { $0 }
    let size = max(16, 2 * keys.count)
    keys = Array(repeating: FamilyID(0), count: size)
    places = Array(repeating: Self.free, count: size)
    for (key, place) in old {
      let slot = slot(of: key)
      (keys[slot], places[slot]) = (key, Int32(place))
    }
  }

  /// What stands behind it moves up, as far as it may: a search ends at the first free slot.
  @discardableResult
  mutating func removeValue(forKey key: FamilyID) -> Int? {
    guard count > 0 else { return nil }
    var hole = slot(of: key)
    let place = places[hole]
    guard place != Self.free else { return nil }
    count -= 1
    var next = hole
    while true {
      next = (next + 1) & (keys.count - 1)
      guard places[next] != Self.free else { break }
      let distance = (next - home(of: keys[next])) & (keys.count - 1)
      guard distance >= (next - hole) & (keys.count - 1) else { continue }
      (keys[hole], places[hole]) = (keys[next], places[next])
      hole = next
    }
    places[hole] = Self.free
    return Int(place)
  }
}
