import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct BackOffTests {
  private let start = Instant(milliseconds: 1_000_000)

  /// The delays of a command after each of eight refusals.
  private func waits(_ id: CommandID, retryAfter: Milliseconds) -> [Milliseconds] {
    var outbox = Outbox()
    _ = outbox.add(id, .remind(id))
    outbox.restart(now: start)
    var now = start
    return (0..<8).map { _ in
      _ = outbox.startDueAttempts(now: now)
      outbox.backOff(id, atLeast: retryAfter, now: now)
      let due = outbox.deadline ?? now
      defer { now = due }
      return due - now
    }
  }

  @Test(
    "backs off from a refused command: at least the relay's delay, doubled each time, with jitter")
  func grows() {
    for (index, wait) in waits(ID128(high: 1, low: 2), retryAfter: .seconds(2)).enumerated() {
      let least = min(.seconds(2 << index), Timing.longestRequestTimeout)
      #expect((least..<least * 2).contains(wait))
    }
    // The relay's delay may exceed the device's own bound.
    #expect(
      waits(ID128(high: 1, low: 2), retryAfter: .seconds(40)).allSatisfy { $0 >= .seconds(40) })
  }

  @Test("keeps the backoff short after retries without refusals")
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
    outbox.backOff(id, atLeast: .seconds(2), now: now)
    let wait = try #require(outbox.deadline) - now
    #expect((.seconds(2) ..< .seconds(4)).contains(wait))
  }

  @Test("repeats no command earlier than a slow relay accepts", arguments: [1, 5, 20])
  func patience(seconds: Int) {
    let replyTime = Milliseconds.seconds(seconds)
    var outbox = Outbox()
    var now = start
    // How often each of five commands is sent before its acceptance.
    let attempts = (1...5).map { (number: UInt64) in
      let id = ID128(high: 1, low: number)
      _ = outbox.add(id, .remind(id))
      outbox.postpone(id, until: now)
      let accepted = now + replyTime
      var count = 0
      while let due = outbox.deadline, due < accepted {
        count += outbox.startDueAttempts(now: due).count
      }
      outbox.learnReplyTime(of: id, now: accepted)
      _ = outbox.remove(id)
      now = accepted + .seconds(1)
      return count
    }
    #expect(attempts.dropFirst().allSatisfy { $0 == 1 })
  }

  @Test("a quick acceptance shortens the time-outs again")
  func impatience() throws {
    var outbox = Outbox()
    for (number, replyTime) in [Milliseconds.seconds(9), .milliseconds(5)].enumerated() {
      let id = ID128(high: 1, low: UInt64(number))
      _ = outbox.add(id, .remind(id))
      outbox.postpone(id, until: start)
      _ = outbox.startDueAttempts(now: start)
      outbox.learnReplyTime(of: id, now: start + replyTime)
      _ = outbox.remove(id)
    }
    let id = ID128(high: 1, low: 9)
    _ = outbox.add(id, .remind(id))
    outbox.postpone(id, until: start)
    _ = outbox.startDueAttempts(now: start)
    #expect(try #require(outbox.deadline) - start == Timing.firstRequestTimeout)
  }

  @Test("learns no reply time from the wait after a refusal")
  func refusedWait() throws {
    var outbox = Outbox()
    let id = ID128(high: 1, low: 1)
    _ = outbox.add(id, .remind(id))
    outbox.restart(now: start)
    _ = outbox.startDueAttempts(now: start)
    outbox.backOff(id, atLeast: .seconds(15), now: start)
    let again = try #require(outbox.deadline)
    _ = outbox.startDueAttempts(now: again)
    outbox.learnReplyTime(of: id, now: again + .milliseconds(20))
    _ = outbox.remove(id)
    let next = ID128(high: 1, low: 2)
    _ = outbox.add(next, .remind(next))
    outbox.postpone(next, until: start)
    _ = outbox.startDueAttempts(now: start)
    #expect(try #require(outbox.deadline) - start == Timing.firstRequestTimeout)
  }

  @Test("spreads the retries of commands that were refused together")
  func jitter() {
    let waits = (0..<1_000).map { self.waits(ID128(high: 1, low: $0), retryAfter: .seconds(2))[0] }
    // Retries per tenth of the two seconds of jitter.
    let tenths = Dictionary(grouping: waits) { ($0 - .seconds(2)) / .milliseconds(200) }.mapValues(
      \.count)
    #expect(tenths.count == 10 && tenths.allSatisfy { (50...150).contains($0.value) })
  }
}
