import FamilyModel
import Testing

@testable import FamilyCore

/// When the first command of an outbox is due.
@Suite struct OutboxDeadlineTests {
  private let now = Instant(milliseconds: 1_000_000)

  private func id(_ number: UInt64) -> CommandID { CommandID(high: 0, low: number) }

  @Test func known() throws {
    var outbox = Outbox()
    #expect(outbox.findDeadline() == nil)
    _ = outbox.add(id(1), .beat)
    outbox.postpone(id(1), until: now + .seconds(9))
    #expect(outbox.deadline == now + .seconds(9))
    #expect(outbox.findDeadline() == outbox.deadline)

    // Each change counts, although the deadline was known before.
    _ = outbox.add(id(2), .beat)
    outbox.postpone(id(2), until: now)
    #expect(outbox.deadline == now && outbox.findDeadline() == now)
    let due = outbox.startDueAttempts(now: now)
    #expect(due.map(\.id) == [id(2)])
    let found = outbox.findDeadline()
    let next = try #require(found)
    #expect(next > now && next < now + .seconds(9))
    _ = outbox.remove(id(2))
    #expect(outbox.findDeadline() == now + .seconds(9))
    outbox.suspend()
    #expect(outbox.findDeadline() == Instant(milliseconds: .max))
    outbox.restart(now: now)
    #expect(outbox.findDeadline() == now)
    _ = outbox.remove(id(1))
    #expect(outbox.findDeadline() == nil && outbox.deadline == nil)
  }
}
