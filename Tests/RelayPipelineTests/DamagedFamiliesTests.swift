import FamilyModel
import Testing

@testable import RelayPipeline

@Suite struct DamagedFamiliesTests {
  private let start = Instant(milliseconds: 1_000_000)

  /// How long the family is refused from `now` on.
  private func delay(_ damaged: DamagedFamilies, _ now: Instant) -> Milliseconds {
    var end = now
    while damaged.refuses(FamilyID(1), now: end) { end = end + .seconds(1) }
    return end - now
  }

  @Test("O2: a damaged family is read again after growing delays, at most a minute")
  func delays() {
    var damaged = DamagedFamilies()
    let delays = (0..<9).map { _ in
      _ = damaged.record(FamilyID(1), refuses: true, now: start)
      return delay(damaged, start)
    }
    #expect(delays.map(\.count) == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { $0 * 1_000 })
    #expect(!damaged.refuses(FamilyID(2), now: start))
    // A clock that was set back.
    #expect(!damaged.refuses(FamilyID(1), now: start + .seconds(-1)))
    damaged.recordLoad(of: FamilyID(1))
    #expect(!damaged.refuses(FamilyID(1), now: start) && damaged.count == 1)
  }

  @Test("O2: a family whose damage the start has found is refused until the next start")
  func lasting() {
    var damaged = DamagedFamilies()
    #expect(damaged.refuse(FamilyID(1)) == true)
    #expect(damaged.record(FamilyID(1), refuses: false, now: start) == false)
    damaged.recordLoad(of: FamilyID(1))
    for time in [start, start + .days(1)] { #expect(damaged.refuses(FamilyID(1), now: time)) }
    #expect(!damaged.refuses(FamilyID(2), now: start) && damaged.count == 1)
    for number in 2...UInt64(DamagedFamilies.limit) {
      #expect(damaged.refuse(FamilyID(number)) == true)
    }
    #expect(damaged.refuse(FamilyID(0)) == false)
  }

  @Test("O2: a store with very many damaged families counts as damaged as a whole")
  func limit() {
    var damaged = DamagedFamilies()
    for number in 1...UInt64(DamagedFamilies.limit) {
      #expect(damaged.record(FamilyID(number), refuses: true, now: start) == true)
      #expect(damaged.record(FamilyID(number), refuses: false, now: start) == false)
    }
    #expect(damaged.record(FamilyID(0), refuses: true, now: start) == nil)
  }
}
