import FamilyModel

/// The families that a relay holds: those used last are open, as values ready for use; all others are packed,
/// each into one array of bytes.
///
/// A family is `packed` → (use) `open` → (another one is used, and this one was not since the last time
/// around) `packed`. Most families are idle most of the time: so a million of them take little memory, and
/// one that is used is read in one go, and not as twenty objects that lie far from each other.
struct FamilyCache: Sendable {
  typealias Family = RelayMachine.Family

  /// Families of one block: a dictionary of the families themselves has twice their size and more, and
  /// moves all of them whenever it grows.
  private static let block = 4_096

  /// Closed questions above which a family is not packed: that would take longer than what it was used for.
  private static let mostClosed = 64

  private enum Slot: Sendable {
    case free
    /// `isSettled`: all devices have acknowledged everything.
    case packed([UInt8], used: Instant, isSettled: Bool)
    case large(Large)
    case open(Int)
  }

  private final class Large: Sendable {
    let family: Family
    init(_ family: Family) { self.family = family }
  }

  private var places = SlotIndex()
  private var blocks: [[Slot]] = []
  /// Places that were let go.
  private var free: [Int] = []
  private var openFamilies: [Family] = []
  /// Of each open family its place, and whether it was used since the hand was there.
  private var owners: [(place: Int, isRecent: Bool)] = []
  private var freeOpen: [Int] = []
  /// Who is looked at next when one has to be packed.
  private var hand = 0
  private let mostOpen: Int

  /// - Parameter open: How many families are open at a time, one at least.
  init(open: Int = 16_384) { mostOpen = max(1, open) }

  var count: Int { places.count }

  func place(of id: FamilyID) -> Int? { places[id] }

  /// Whether the family is held and open.
  func isOpen(_ id: FamilyID) -> Bool {
    if let place = places[id], case .open = slot(place) { true } else { false }
  }

  /// Whether the family is packed, and nobody lacks anything.
  func isSettled(_ place: Int) -> Bool {
    if case .packed(_, _, isSettled: true) = slot(place) { true } else { false }
  }

  /// The family at a place that ``place(of:)`` named.
  subscript(place: Int) -> Family {
    get {
      switch slot(place) {
      case .open(let index): openFamilies[index]
      case .packed(let bytes, _, _): Unpacker.unpack(bytes, as: Family.self)!
      case .large(let large): large.family
      case .free: preconditionFailure("nobody lives at place \(place)")
      }
    }
    _modify {
      let index = opened(place)
      yield &openFamilies[index]
    }
  }

  /// Reads a family that is likely to be changed soon.
  mutating func open<R>(_ place: Int, _ body: (borrowing Family) -> R) -> R {
    let index = opened(place)
    return body(openFamilies.span[index])
  }

  /// Takes the family in, in place of one with this id.
  mutating func insert(_ family: Family, _ id: FamilyID) {
    if let place = places[id] { return self[place] = family }
    let place = free.popLast() ?? places.count
    if place / Self.block == blocks.count {
      blocks.append([])
      blocks[place / Self.block].reserveCapacity(Self.block)
    }
    if place % Self.block == blocks[place / Self.block].count {
      blocks[place / Self.block].append(.free)
    }
    places[id] = place
    set(place, .open(open(family, at: place)))
  }

  mutating func remove(_ id: FamilyID) {
    guard let place = places.removeValue(forKey: id) else { return }
    if case .open(let index) = slot(place) {
      openFamilies[index] = Family(state: FamilyState(), used: Instant(milliseconds: 0))
      freeOpen.append(index)
    }
    set(place, .free)
    free.append(place)
  }

  /// All but the `most` that were used last; of those used at the same moment the smaller ids.
  func oldest(but most: Int) -> [FamilyID] {
    places.map { (used($0.value), $0.key) }.sorted { $0 < $1 }
      .prefix(max(0, count - most)).map(\.1)
  }

  private func used(_ place: Int) -> Instant {
    switch slot(place) {
    case .open(let index): openFamilies[index].used
    case .packed(_, let used, _): used
    case .large(let large): large.family.used
    case .free: Instant(milliseconds: .min)
    }
  }

  private func slot(_ place: Int) -> Slot { blocks[place / Self.block][place % Self.block] }

  private mutating func set(_ place: Int, _ slot: Slot) {
    blocks[place / Self.block][place % Self.block] = slot
  }

  /// Opens the family, if it is not; tells where it is.
  private mutating func opened(_ place: Int) -> Int {
    if case .open(let index) = slot(place) {
      owners[index].isRecent = true
      return index
    }
    let index = open(self[place], at: place)
    set(place, .open(index))
    return index
  }

  /// Where the family is open now; packs another one when there are enough.
  private mutating func open(_ family: consuming Family, at place: Int) -> Int {
    if let index = freeOpen.popLast() {
      swap(&openFamilies[index], &family)
      owners[index] = (place, true)
      return index
    }
    if openFamilies.count < mostOpen {
      openFamilies.append(consume family)
      owners.append((place, true))
      return openFamilies.count - 1
    }
    while owners[hand].isRecent {
      owners[hand].isRecent = false
      hand = (hand + 1) % owners.count
    }
    let index = hand
    hand = (hand + 1) % owners.count
    swap(&family, &openFamilies[index])
    set(owners[index].place, Self.closed(family))
    owners[index] = (place, true)
    return index
  }

  private static func closed(_ family: Family) -> Slot {
    family.state.closed.entries.count > mostClosed
      ? .large(Large(family))
      : .packed(Packer.pack(family), used: family.used, isSettled: family.isSettled)
  }
}
