import FamilyModel

/// A set of which most elements are in one sorted array, without the spare room of a hash table.
struct PackedSet<Element: Packable & Hashable & Comparable & Sendable>: Sendable {
  private var recent: Set<Element> = []
  /// Ascending.
  private var sorted: [Element] = []

  init() {}

  func contains(_ element: Element) -> Bool {
    if recent.contains(element) { return true }
    let index = sorted.lowerBound { $0 < element }
    return index < sorted.count && sorted[index] == element
  }

  mutating func insert(_ element: Element) {
    guard !contains(element) else { return }
    recent.insert(element)
    if Limits.mustPack(recent.count, beside: sorted.count) {
      (sorted, recent) = (all, [])
    }
  }

  /// All elements, ascending.
  var all: [Element] {
    let added = recent.sorted()
    var all: [Element] = []
    all.reserveCapacity(sorted.count + added.count)
    var next = 0
    for element in added {
      while next < sorted.count, sorted[next] < element {
        all.append(sorted[next])
        next += 1
      }
      all.append(element)
    }
    return all + sorted[next...]
  }
}

extension PackedSet: Packable {
  func pack(_ packer: inout Packer) { packer.add(all) }
  init(_ packed: inout Unpacker) { sorted = packed.value() }
}

extension PackedSet: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: Set(all)) }
}
