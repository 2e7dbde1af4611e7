/// What will happen when: a heap. Of two things at one moment the one that was planned first comes first.
struct EventQueue<Item> {
  private struct Entry {
    var at: Int64
    var order: UInt64
    var place: Int
  }
  private var heap: [Entry] = []
  private var items: [Item?] = []
  private var free: [Int] = []
  private var planned: UInt64 = 0

  var isEmpty: Bool { heap.isEmpty }

  mutating func plan(_ item: Item, at: Int64) {
    let place: Int
    if let last = free.popLast() {
      place = last
      items[place] = item
    } else {
      place = items.count
      items.append(item)
    }
    planned += 1
    heap.append(Entry(at: at, order: planned, place: place))
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard Self.isFirst(heap[index], heap[parent]) else { break }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  mutating func next() -> (at: Int64, item: Item)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    let item = items[first.place]!
    items[first.place] = nil
    free.append(first.place)
    return (first.at, item)
  }

  private mutating func sink() {
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && Self.isFirst(heap[child], heap[least]) {
        least = child
      }
      if least == index { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  private static func isFirst(_ a: Entry, _ b: Entry) -> Bool {
    a.at != b.at ? a.at < b.at : a.order < b.order
  }
}
