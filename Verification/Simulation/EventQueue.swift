import FamilyModel
import HeapModule

/// A priority queue of scheduled items by time. Items scheduled for the same time keep their order.
struct EventQueue<Item> {
  /// Heap entries are small; items stay in their slots while entries move.
  private struct Entry: Comparable {
    var at: Milliseconds
    var order: UInt64
    var slot: Int

    static func < (a: Entry, b: Entry) -> Bool {
      a.at != b.at ? a.at < b.at : a.order < b.order
    }
  }
  private var heap = Heap<Entry>()
  private var slots: [Item?] = []
  private var freeSlots: [Int] = []
  private var scheduled: UInt64 = 0

  mutating func schedule(_ item: Item, at: Milliseconds) {
    let slot = freeSlots.popLast() ?? slots.count
    if slot == slots.count { slots.append(item) } else { slots[slot] = item }
    scheduled += 1
    heap.insert(Entry(at: at, order: scheduled, slot: slot))
  }

  /// Removes the earliest item.
  mutating func next() -> (at: Milliseconds, item: Item)? {
    guard let first = heap.popMin() else { return nil }
    defer {
      slots[first.slot] = nil
      freeSlots.append(first.slot)
    }
    return (first.at, slots[first.slot]!)
  }
}
