import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct TimerQueueTests {
  @Test("R1: returns families in the order of their deadlines, each once") func order() {
    var queue = TimerQueue<FamilyID>()
    var source = IDSource(seed: 3)
    var expected: [FamilyID: Int64] = [:]
    for _ in 0..<5_000 {
      let (family, at) = (FamilyID(source.next() % 500), Int64(source.next() % 10_000))
      expected[family] = min(expected[family] ?? .max, at)
      queue.set(family, Instant(milliseconds: at))
      if source.next() % 50 == 0 {
        queue.remove(family)
        expected[family] = nil
      }
    }
    #expect(queue.count == expected.count)
    let order = expected.map { ($0.value, $0.key) }.sorted { $0 < $1 }.map(\.1)
    var found: [FamilyID] = []
    while let at = queue.deadline, let next = queue.next(at) { found.append(next) }
    #expect(found == order)
    #expect(queue.count == 0 && queue.next(Instant(milliseconds: .max)) == nil)
  }

  @Test("R1: returns nothing before its deadline") func early() {
    var queue = TimerQueue<FamilyID>()
    queue.set(FamilyID(1), Instant(milliseconds: 10))
    #expect(queue.next(Instant(milliseconds: 9)) == nil)
    #expect(queue.next(Instant(milliseconds: 10)) == FamilyID(1))
  }

  @Test("R1: after the clock was set back, no family waits for a deadline by the earlier clock")
  func setBack() {
    var queue = TimerQueue<FamilyID>()
    for family in 1...100 { queue.set(FamilyID(UInt64(family)), Instant(milliseconds: 500_000)) }
    queue.set(FamilyID(101), Instant(milliseconds: 5))
    queue.hasten(Instant(milliseconds: 10))
    #expect(queue.next(Instant(milliseconds: 5)) == FamilyID(101))
    #expect(queue.next(Instant(milliseconds: 9)) == nil)
    for family in 1...100 {
      #expect(queue.next(Instant(milliseconds: 10)) == FamilyID(UInt64(family)))
    }
    #expect(queue.count == 0)
  }
}
