/// A set that keeps most elements in their packed form.
struct PackedSet<Element: Packable & Hashable & Comparable & Sendable>: Sendable {
  private struct Nothing: Packable, Sendable {
    init() {}
    func pack(_ packer: inout Packer) {}
    init(_ packed: inout Unpacker) {}
  }

  private var map = PackedMap<Element, Nothing>()

  init() {}

  func contains(_ element: Element) -> Bool { map.holds(element) }

  mutating func insert(_ element: Element) {
    if !contains(element) { map[element] = Nothing() }
  }

  /// All elements, ascending.
  var all: [Element] { map.all.keys.sorted() }

  /// Moves the packed elements to a storage, and those that are packed later.
  mutating func move(to storage: any HistoryStorage) { map.move(to: storage) }
}

extension PackedSet: Packable {
  func pack(_ packer: inout Packer) { packer.add(map) }
  init(_ packed: inout Unpacker) { map = packed.value() }
}

extension PackedSet: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: Set(all)) }
}
