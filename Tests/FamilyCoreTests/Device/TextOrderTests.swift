import FamilyModel
import Testing

@testable import FamilyCore

/// A device's texts arrive in the order in which their author wrote them.
@Suite struct TextOrderTests {
  private let start = Instant(milliseconds: 1_000_000)
  private func id(_ number: UInt64) -> CommandID { CommandID(high: number, low: number) }

  private func outbox(_ commands: [Command]) -> Outbox {
    var outbox = Outbox()
    for (number, command) in commands.enumerated() { _ = outbox.add(id(UInt64(number)), command) }
    outbox.restart(now: start)
    return outbox
  }

  private func post(_ text: String, _ child: UInt32 = 3) -> Command {
    .post(child: PersonID(child), .text(text))
  }

  @Test("M3: a text waits for the text before it, and no other command does")
  func waits() {
    var outbox = outbox([post("a"), post("b"), .remind(id(9)), post("c", 4), post("d")])
    #expect(outbox.startDueAttempts(now: start).map(\.id) == [id(0), id(2), id(3)])
    // The first text was lost, and is sent again alone.
    let retry = start + Timing.longestRequestTimeout
    #expect(outbox.startDueAttempts(now: retry).map(\.id) == [id(0), id(2), id(3)])
    _ = outbox.remove(id(0))
    #expect(outbox.startDueAttempts(now: retry).map(\.id) == [id(1)])
    _ = outbox.remove(id(1))
    #expect(outbox.startDueAttempts(now: retry).map(\.id) == [id(4)])
  }

  @Test("M3: waiting texts cost no timer, and an overloaded relay delays only the first one")
  func refused() throws {
    var outbox = outbox([post("a"), post("b")])
    _ = outbox.startDueAttempts(now: start)
    outbox.backOff(id(0), atLeast: .seconds(20), now: start)
    #expect(try #require(outbox.deadline) >= start + .seconds(20))
    _ = outbox.remove(id(0))
    #expect(outbox.startDueAttempts(now: start).map(\.id) == [id(1)])
  }

  @Test("M3: a detached device sends no text until it is attached again")
  func suspended() {
    var outbox = outbox([post("a"), post("b")])
    _ = outbox.startDueAttempts(now: start)
    outbox.suspend()
    _ = outbox.remove(id(0))
    #expect(outbox.startDueAttempts(now: start + .hours(1)).isEmpty)
    outbox.restart(now: start)
    #expect(outbox.startDueAttempts(now: start).map(\.id) == [id(1)])
  }
}
