import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct BackOffTests {
  private let start = Instant(milliseconds: 1_000_000)

  /// Waits of one command that is refused again and again.
  private func waits(_ id: CommandID, retryAfter: UInt32) -> [Int64] {
    var outbox = Outbox()
    _ = outbox.add(id, .remind(id))
    outbox.restart(now: start)
    var now = start
    return (0..<8).map { _ in
      _ = outbox.startDueAttempts(now: now)
      outbox.backOff(id, atLeast: retryAfter, now: now)
      let due = outbox.deadline ?? now
      defer { now = due }
      return due.milliseconds - now.milliseconds
    }
  }

  @Test(
    "a refused command waits as long as it is told, longer each time, up to twice the longest wait")
  func grows() {
    for (index, wait) in waits(ID128(high: 1, low: 2), retryAfter: 2_000).enumerated() {
      let least = min(2_000 << Int64(index), Timing.longestRequestTimeout)
      #expect((least..<2 * least).contains(wait))
    }
    // More than the longest wait of its own, if it is told so.
    #expect(waits(ID128(high: 1, low: 2), retryAfter: 40_000).allSatisfy { $0 >= 40_000 })
  }

  @Test("repetitions that nobody refused do not make the wait longer")
  func repetitions() throws {
    let id = ID128(high: 1, low: 2)
    var outbox = Outbox()
    _ = outbox.add(id, .remind(id))
    outbox.restart(now: start)
    var now = start
    for _ in 0..<8 {
      #expect(outbox.startDueAttempts(now: now).count == 1)
      now = try #require(outbox.deadline)
    }
    outbox.backOff(id, atLeast: 2_000, now: now)
    let wait = try #require(outbox.deadline).milliseconds - now.milliseconds
    #expect((2_000..<4_000).contains(wait))
  }

  @Test("commands that are refused together come back apart")
  func jitter() {
    let waits = (0..<1_000).map { self.waits(ID128(high: 1, low: $0), retryAfter: 2_000)[0] }
    // By the tenth of the two seconds over which they are spread.
    let tenths = Dictionary(grouping: waits) { ($0 - 2_000) / 200 }.mapValues(\.count)
    #expect(tenths.count == 10 && tenths.allSatisfy { (50...150).contains($0.value) })
  }
}
