import FamilyModel

/// The families that a relay holds: a dictionary of places, and the families in blocks. A dictionary of the
/// families themselves has twice their size and more, and moves all of them whenever it grows.
struct FamilyTable: Sendable {
  typealias Family = RelayMachine.Family

  /// Families of one block.
  private static let block = 256

  private var places = PlaceTable()
  private var blocks: [[Family?]] = []
  /// Places that were let go.
  private var free: [Int] = []

  var count: Int { places.count }

  func place(of id: FamilyID) -> Int? { places[id] }

  /// The family at a place that ``place(of:)`` named.
  subscript(place: Int) -> Family {
    _read { yield blocks[place / Self.block][place % Self.block]! }
    _modify { yield &blocks[place / Self.block][place % Self.block]! }
  }

  /// Takes the family in, in place of one with this id.
  mutating func insert(_ family: Family, _ id: FamilyID) {
    let place = places[id] ?? free.popLast() ?? places.count
    if place / Self.block == blocks.count {
      blocks.append([])
      blocks[place / Self.block].reserveCapacity(Self.block)
    }
    if place % Self.block == blocks[place / Self.block].count {
      blocks[place / Self.block].append(family)
    } else {
      blocks[place / Self.block][place % Self.block] = family
    }
    places[id] = place
  }

  mutating func remove(_ id: FamilyID) {
    guard let place = places.removeValue(forKey: id) else { return }
    blocks[place / Self.block][place % Self.block] = nil
    free.append(place)
  }

  /// All but the `most` that were used last; of those used at the same moment the smaller ids.
  func oldest(but most: Int) -> [FamilyID] {
    places.map { (self[$0.value].used, $0.key) }.sorted { $0 < $1 }
      .prefix(max(0, count - most)).map(\.1)
  }
}
