import FamilyModel
import History
import Testing

@Suite struct OrderOfActsTests {
  private static let emily = HistoryBuilder.emily

  /// A history with two texts, in this order in the log.
  private func texts(_ order: [UInt64], _ facts: [Fact]) -> Verdict {
    var builder = HistoryBuilder.approval { builder in
      for fact in facts { builder.record(fact) }
    }
    for number in order {
      builder.event(
        .posted(child: PersonID(3), .text("a")), by: 3, command: number)
    }
    return builder.ended().verdict(TimesFollowed())
  }

  private func issued(_ number: UInt64, at position: UInt64) -> Fact {
    .issued(
      Self.emily, HistoryBuilder.id(number), OutboxEntry(position: position, question: nil))
  }

  @Test("M3: the texts of a device have the order in which their author wrote them")
  func texts() {
    let facts = [issued(50, at: 1), issued(51, at: 2)]
    #expect(texts([50, 51], facts) == .ok)
    #expect(texts([51, 50], facts).isViolated)
    // A restarted device numbers its outbox after what it holds.
    let restarted = [issued(50, at: 7), .restored(Self.emily, .family, [], cursor: 0)]
    #expect(texts([50, 51], restarted + [issued(51, at: 1)]) == .ok)
    #expect(texts([51, 50], restarted + [issued(51, at: 1)]).isViolated)
  }

  @Test("M3: an event of a command that was issued after an acknowledgement is later")
  func acknowledged() {
    let late = Fact.acknowledged(HistoryBuilder.rosa, HistoryBuilder.id(9), seq: 4)
    #expect(texts([50], [issued(50, at: 1), late]) == .ok)
    #expect(texts([50], [late, issued(50, at: 1)]).isViolated)
  }
}
