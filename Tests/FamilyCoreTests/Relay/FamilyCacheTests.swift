import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct FamilyCacheTests {
  @Test(
    "families that come, change, are packed and go leave those of others as they are",
    arguments: 1...8, [1, 40, 8_192])
  func model(seed: Int, open: Int) {
    var source = IDSource(seed: UInt64(seed))
    var table = FamilyCache(open: open)
    var model: [FamilyID: Int64] = [:]
    // Ids that come again after they went.
    for turn in 0..<6_000 {
      let id = FamilyID(source.next() % 700 + 1)
      let used = Instant(milliseconds: Int64(turn))
      switch source.next() % 4 {
      case 0:
        table.remove(id)
        model[id] = nil
      case 1:
        if let place = table.place(of: id) {
          table[place].used = used
          model[id] = Int64(turn)
        }
      default:
        table.insert(RelayMachine.Family(state: FamilyState(), used: used), id)
        model[id] = Int64(turn)
      }
    }
    #expect(table.count == model.count)
    #expect((1...700).count { table.isOpen(FamilyID(UInt64($0))) } == min(open, model.count))
    for id in (1...700).map({ FamilyID($0) }) {
      #expect(table.place(of: id).map { table[$0].used.milliseconds } == model[id])
    }
    let byUse = model.sorted { $0.value < $1.value }.map(\.key)
    #expect(table.oldest(but: 100) == Array(byUse.dropLast(100)))
    #expect(table.oldest(but: model.count + 1).isEmpty)
  }

  @Test("a map that is a copy shares no memory, and a fitted array has no room for more")
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
    #expect(numbers.fitted == numbers)
    #expect(numbers.fitted.capacity < numbers.capacity)
  }
}
