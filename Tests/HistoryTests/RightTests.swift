import FamilyModel
import History
import Testing

@Suite struct RightTests {
  /// What is said of one more event after an open question.
  private func verdict(
    _ body: Event.Body, by device: UInt32, at: Int64 = 0, expiration: Int64? = nil,
    before: Event.Body? = nil
  ) -> Verdict {
    var story = HistoryBuilder()
    story.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    let header = HistoryBuilder.header(expiration: expiration.map { Instant(milliseconds: $0) })
    story.event(.asked(header, .question(HistoryBuilder.question)), by: 3)
    if let before { story.event(before, by: 1) }
    story.event(body, by: device, at: at)
    return story.ended().verdict(RightfulEvents())
  }

  @Test("R3, R8: decisions are a guardian's, of an open question, in time")
  func decisions() {
    #expect(verdict(HistoryBuilder.decision(.approve), by: 1) == .ok)
    #expect(verdict(HistoryBuilder.decision(.approve), by: 3).isViolated)
    #expect(verdict(HistoryBuilder.decision(.approve), by: 0).isViolated)
    #expect(verdict(HistoryBuilder.decision(.approve), by: 1, at: 10, expiration: 10) == .ok)
    #expect(verdict(HistoryBuilder.decision(.approve), by: 1, at: 11, expiration: 10).isViolated)
    #expect(verdict(.cancelled(HistoryBuilder.question.id), by: 3) == .ok)
    #expect(verdict(.cancelled(HistoryBuilder.question.id), by: 1).isViolated)
    let decided = HistoryBuilder.decision(.approve)
    #expect(verdict(.reminded(HistoryBuilder.question.id), by: 3) == .ok)
    #expect(verdict(.reminded(HistoryBuilder.question.id), by: 3, before: decided).isViolated)
  }

  @Test("Q8, Q9: questions are a child's own, once, with the limits on")
  func questions() {
    var other = HistoryBuilder.header()
    other.id = HistoryBuilder.id(101)
    #expect(verdict(.asked(other, .question(HistoryBuilder.question)), by: 3) == .ok)
    #expect(verdict(.asked(other, .question(HistoryBuilder.question)), by: 1).isViolated)
    #expect(
      verdict(.asked(HistoryBuilder.header(), .question(HistoryBuilder.question)), by: 3).isViolated
    )
    let off = Event.Body.limitsChanged(child: PersonID(3), on: false)
    #expect(
      verdict(.asked(other, .question(HistoryBuilder.question)), by: 3, before: off).isViolated)
  }

  @Test("F5, F6, K1, R9: limits, contacts, withdrawals and accounts are a guardian's")
  func settings() {
    let bodies: [Event.Body] = [
      .limitsChanged(child: PersonID(3), on: false),
      .contactChanged(child: PersonID(3), .contact(HistoryBuilder.ada, known: true)),
      .withdrawn(child: PersonID(3), .withdrawal(.handle(HistoryBuilder.ada, in: nil))),
      .accountChanged(PersonID(3), .text("")), .rosterChanged(HistoryBuilder.roster),
    ]
    for body in bodies {
      #expect(verdict(body, by: 2) == .ok)
      #expect(verdict(body, by: 3).isViolated)
    }
    #expect(verdict(.accountChanged(PersonID(1), .text("")), by: 2).isViolated)
    #expect(verdict(.posted(child: PersonID(3), .text("a")), by: 3) == .ok)
    #expect(verdict(.posted(child: PersonID(3), .text("a")), by: 7).isViolated)
  }

  private func known(
    _ handles: [Handle], _ events: Event.Body..., at end: [Handle]? = nil
  ) -> Verdict {
    var story = HistoryBuilder.approval(skip: ["handled"])
    for body in events { story.event(body, by: 1) }
    story.note(.knows(HistoryBuilder.landmarks, handles))
    if let end { story.note(.knows(HistoryBuilder.landmarks, end)) }
    return story.ended().verdict(KnownHandlesRight())
  }

  @Test("K1, K3, K5: nothing is known that nobody approved, and nothing stays that was withdrawn")
  func knownHandles() {
    let mary = Handle("+1 555", .phoneNumber)
    let withdrawal = Event.Body.withdrawn(
      child: PersonID(3), .withdrawal(.handle(HistoryBuilder.ada, in: HistoryBuilder.app)))
    let contact = Event.Body.contactChanged(child: PersonID(3), .contact(mary, known: true))
    #expect(known([HistoryBuilder.ada]) == .ok)
    #expect(known([HistoryBuilder.ada, mary]).isViolated)
    #expect(known([]).isViolated)
    #expect(known([HistoryBuilder.ada, mary.canonical], contact) == .ok)
    #expect(known([HistoryBuilder.ada], contact).isViolated)
    #expect(known([], withdrawal) == .ok)
    #expect(known([HistoryBuilder.ada], withdrawal).isViolated)
    #expect(known([HistoryBuilder.ada], withdrawal, at: []) == .ok)
    let off = Event.Body.contactChanged(child: PersonID(3), .contact(mary, known: false))
    #expect(known([HistoryBuilder.ada], contact, off) == .ok)
    #expect(known([HistoryBuilder.ada, mary.canonical], contact, off).isViolated)
  }

  @Test("K5: a custom name is known in the app that asked, and in no other")
  func customNames() {
    var story = HistoryBuilder.approval()
    let other = AppAddress(HistoryBuilder.emily, AppID("example.other"))
    story.note(.knows(other, [HistoryBuilder.ada]))
    #expect(story.ended().verdict(KnownHandlesRight()).isViolated)
  }

  @Test("a log that cannot be opened says nothing about known handles")
  func sealed() {
    var story = HistoryBuilder.approval()
    story.event(.withdrawn(child: PersonID(3), .sealed([1])), by: 1)
    let verdict = story.ended().verdict(KnownHandlesRight())
    if case .unknown = verdict {} else { Issue.record("\(verdict)") }
  }
}
