import FamilyModel
import SystemClock
import Testing

@Suite struct IDSourceTests {
  @Test("T1: 100,000 ids of a process are unique, and no id predicts the next")
  func unpredictable() {
    var source = IDSource.system
    let now = Instant(milliseconds: 1_795_262_400_000)
    let ids = (0..<100_000).map { _ in source.id(now: now) }
    #expect(Set(ids).count == ids.count)
    #expect(Set(ids.map(\.low)).count == ids.count)
    #expect(ids.allSatisfy { $0.high >> 16 == UInt64(now.milliseconds) })
    #expect(!zip(ids, ids.dropFirst()).contains { Self.follows($1, $0) })
    // Each of the 80 random bits is set in half of the ids.
    for bit in 0..<80 {
      let count = ids.count { (bit < 64 ? $0.low >> bit : $0.high >> (bit - 64)) & 1 == 1 }
      #expect(48_000...52_000 ~= count, "bit \(bit)")
    }
  }

  @Test("one id of a seeded source predicts the next, so that the test above can fail")
  func predictable() {
    var source = IDSource(seed: 7)
    let now = Instant(milliseconds: 1)
    let (first, second) = (source.id(now: now), source.id(now: now))
    #expect(Self.follows(second, first))
  }

  /// Whether SplitMix64, set to the state that the first id reveals, makes the second id.
  private static func follows(_ second: ID128, _ first: ID128) -> Bool {
    let state = invert(first.low)
    var source = IDSource(seed: state)
    return source.next() & 0xFFFF == second.high & 0xFFFF && source.next() == second.low
  }

  /// The state after the output, by the inverse of SplitMix64's finalizer.
  private static func invert(_ output: UInt64) -> UInt64 {
    var z = output ^ (output >> 31) ^ (output >> 62)
    z &*= 0x3196_42B2_D24D_8EC3
    z ^= (z >> 27) ^ (z >> 54)
    z &*= 0x96DE_1B17_3F11_9089
    return z ^ (z >> 30) ^ (z >> 60)
  }
}
