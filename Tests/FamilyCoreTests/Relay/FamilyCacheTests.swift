import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct FamilyCacheTests {
  @Test(
    "inserting, changing, packing and evicting families leaves other families unchanged",
    arguments: 1...8, [1, 40, 8_192])
  func model(seed: Int, open: Int) {
    var source = IDSource(seed: UInt64(seed))
    var cache = FamilyCache(openFamilies: open)
    var model: [FamilyID: Int64] = [:]
    // Removed ids are inserted again.
    for turn in 0..<6_000 {
      let id = FamilyID(source.next() % 700 + 1)
      let used = Instant(milliseconds: Int64(turn))
      switch source.next() % 4 {
      case 0:
        cache.remove(id)
        model[id] = nil
      case 1:
        if let slot = cache.slot(of: id) {
          cache[slot].lastUsed = used
          model[id] = Int64(turn)
        }
      default:
        cache.insert(RelayMachine.Family(state: FamilyState(), lastUsed: used), id)
        model[id] = Int64(turn)
      }
    }
    #expect(cache.count == model.count)
    #expect((1...700).count { cache.isOpen(FamilyID(UInt64($0))) } == min(open, model.count))
    for id in (1...700).map({ FamilyID($0) }) {
      #expect(cache.slot(of: id).map { cache[$0].lastUsed.milliseconds } == model[id])
    }
    let byUse = model.sorted { $0.value < $1.value }.map(\.key)
    #expect(cache.leastRecentlyUsed(keeping: 100) == Array(byUse.dropLast(100)))
    #expect(cache.leastRecentlyUsed(keeping: model.count + 1).isEmpty)
  }

  @Test("a copied map shares no memory, and a trimmed array has no unused capacity")
  func memory() {
    var map = SmallMap<PersonID, UInt64>()
    for person in 1...5 { map[PersonID(UInt32(person))] = 1 }
    var copy = SmallMap<PersonID, UInt64>()
    copy[PersonID(9)] = 9
    copy.copy(map)
    #expect(copy == map)
    func address(_ map: SmallMap<PersonID, UInt64>) -> UnsafeRawPointer? {
      map.entries.withUnsafeBytes { $0.baseAddress }
    }
    #expect(address(copy) != address(map))
    for person in 1...5 { map[PersonID(UInt32(person))] = nil }
    #expect(map.entries.isEmpty && copy.entries.count == 5)
    var numbers: [UInt64] = []
    for number in 0..<1_000 { numbers.append(UInt64(number)) }
    #expect(numbers.trimmed == numbers)
    #expect(numbers.trimmed.capacity < numbers.capacity)
  }
}
