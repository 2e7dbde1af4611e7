import FamilyModel
import History
import Testing

@Suite struct SafetyTests {
  @Test("every checker accepts a correct history")
  func orderly() {
    let verdicts = HistoryBuilder.approval().ended().verdicts()
    #expect(verdicts.count == History.checkers.count)
    for (name, verdict) in verdicts { #expect(verdict == .ok, "\(name)") }
  }

  @Test("X2: finds an acknowledged command that the store lacks")
  func lost() {
    var builder = HistoryBuilder.approval()
    builder.log.removeLast()
    #expect(builder.ended().verdict(NothingLost()).isViolated)
  }

  @Test("X2: finds an acknowledged command whose sequence number holds another command")
  func replaced() {
    var builder = HistoryBuilder.approval()
    builder.log[2].command = HistoryBuilder.id(77)
    #expect(builder.ended().verdict(NothingLost()).isViolated)
    // A repeated question under another command id is acknowledged with the original event.
    for (question, isSame) in [(HistoryBuilder.question.id, true), (HistoryBuilder.id(88), false)] {
      var again = HistoryBuilder.approval()
      again.record(
        .issued(
          HistoryBuilder.emily, HistoryBuilder.id(55), OutboxEntry(position: 2, question: question)),
        .acknowledged(HistoryBuilder.emily, HistoryBuilder.id(55), seq: 2))
      #expect(again.ended().verdict(NothingLost()).isViolated == !isSame)
    }
  }

  @Test("X2: finds two events with the same command id")
  func twiceInTheLog() {
    var builder = HistoryBuilder.approval()
    builder.event(.posted(child: PersonID(3), .text("a")), by: 1, command: 9)
    #expect(builder.ended().verdict(NothingTwice()) == .ok)
    builder.event(.posted(child: PersonID(3), .text("a")), by: 1, command: 9)
    #expect(builder.ended().verdict(NothingTwice()).isViolated)
  }

  @Test("X2: finds an event applied twice unless the device lost its state")
  func twiceOnADevice() {
    let again = HistoryBuilder.approval { $0.apply(2, on: HistoryBuilder.alex) }
    #expect(again.ended().verdict(NothingTwice()).isViolated)
    let forgotten = HistoryBuilder.approval {
      $0.record(
        .lostState(HistoryBuilder.alex), .restored(HistoryBuilder.alex, .family, [1], cursor: 1),
        .restored(HistoryBuilder.alex, .conversation(PersonID(3)), [], cursor: 0))
      $0.apply(2, on: HistoryBuilder.alex)
    }
    #expect(forgotten.ended().violated == [])
  }

  @Test("R3: finds a second decision in the log and a different one on a device")
  func decisions() {
    var second = HistoryBuilder.approval()
    second.event(HistoryBuilder.decision(.approve), by: 2)
    #expect(second.ended().verdict(OneDecision()).isViolated)
    let other = HistoryBuilder.approval {
      $0.record(.decided(HistoryBuilder.alex, HistoryBuilder.question.id, choice: "decline"))
    }
    #expect(other.ended().verdict(OneDecision()).isViolated)
    // All devices agree, but the log differs.
    var forged = HistoryBuilder.approval()
    forged.log[2].body = HistoryBuilder.decision(.decline)
    #expect(forged.ended().verdict(OneDecision()).isViolated)
  }

  @Test("M3, M5: finds skipped and reordered events and gaps after a restart")
  func order() {
    var builder = HistoryBuilder()
    builder.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    for text in ["a", "b"] { builder.event(.posted(child: PersonID(3), .text(text)), by: 1) }
    var skipped = builder
    skipped.apply(3, on: HistoryBuilder.emily)
    #expect(skipped.ended().verdict(OneOrder()).isViolated)
    var reversed = builder
    reversed.apply(3, on: HistoryBuilder.emily)
    reversed.apply(2, on: HistoryBuilder.emily)
    #expect(reversed.ended().verdict(OneOrder()).isViolated)
    var other = builder
    other.record(
      .applied(HistoryBuilder.emily, .conversation(PersonID(3)), seq: 2, HistoryBuilder.id(9)))
    #expect(other.ended().verdict(OneOrder()).isViolated)
    let talk = Audience.conversation(PersonID(3))
    var gap = builder
    gap.record(.restored(HistoryBuilder.emily, talk, [3], cursor: 3))
    #expect(gap.ended().verdict(OneOrder()).isViolated)
    // The cursor is ahead of the stored events.
    var ahead = builder
    ahead.record(.restored(HistoryBuilder.emily, talk, [2], cursor: 3))
    #expect(ahead.ended().verdict(OneOrder()).isViolated)
    builder.record(.restored(HistoryBuilder.emily, talk, [2], cursor: 2))
    builder.apply(3, on: HistoryBuilder.emily)
    #expect(builder.ended().verdict(OneOrder()) == .ok)
  }

  @Test("finds events outside their audience; former members keep earlier events")
  func audience() {
    func told(_ device: DeviceAddress, _ seq: UInt64) -> Verdict {
      var builder = HistoryBuilder.approval()
      var smaller = HistoryBuilder.roster
      smaller.devices.removeAll { $0.id == DeviceID(2) }
      builder.event(.rosterChanged(smaller), by: 0, in: .family)
      builder.event(.posted(child: PersonID(3), .text("a")), by: 1)
      builder.record(.received(device, seq == 4 ? .family : .conversation(PersonID(3)), seq: seq))
      return builder.ended().verdict(AudienceKept())
    }
    #expect(told(HistoryBuilder.rosa, 5) == .ok)
    #expect(told(HistoryBuilder.alex, 3) == .ok)
    #expect(told(HistoryBuilder.alex, 4) == .ok)
    #expect(told(HistoryBuilder.alex, 5).isViolated)
    #expect(told(HistoryBuilder.address(9), 5).isViolated)
    #expect(told(DeviceAddress(family: FamilyID(2), device: DeviceID(1)), 1).isViolated)
  }

  @Test("R6: finds an acknowledged response handled again unless the app lost its state")
  func handled() {
    func again(_ between: Fact?, choice: String = "approve") -> Verdict {
      var builder = HistoryBuilder.approval()
      if let between { builder.record(between) }
      builder.record(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: choice))
      return builder.ended().verdict(HandledOnce())
    }
    #expect(again(nil).isViolated)
    #expect(again(.appLostState(HistoryBuilder.landmarks)) == .ok)
    // The app crashed between handling and acknowledging.
    var crash = HistoryBuilder.approval(skip: ["handled"])
    crash.record(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "approve"))
    crash.record(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "approve"))
    #expect(crash.ended().verdict(HandledOnce()) == .ok)
    crash.record(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "decline"))
    #expect(crash.ended().verdict(HandledOnce()).isViolated)
  }

  @Test("gives no verdict on the log without the stored events")
  func unknown() {
    let verdicts = HistoryBuilder.approval().history.verdicts()
    #expect(verdicts.filter { if case .unknown = $0.verdict { true } else { false } }.count == 6)
    #expect(HistoryBuilder.approval().history.violated == [])
  }
}
