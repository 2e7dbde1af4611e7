import FamilyModel
import History
import Testing

@Suite struct SafetyTests {
  @Test("an orderly history violates nothing, and every checker has a verdict")
  func orderly() {
    let verdicts = HistoryBuilder.approval().ended().verdicts()
    #expect(verdicts.count == 10)
    for (name, verdict) in verdicts { #expect(verdict == .ok, "\(name)") }
  }

  @Test("X2: an acknowledged command that the store does not have is lost")
  func lost() {
    var story = HistoryBuilder.approval()
    story.log.removeLast()
    #expect(story.ended().verdict(NothingLost()).isViolated)
  }

  @Test("X2: an acknowledged command whose place holds another command is lost")
  func replaced() {
    var story = HistoryBuilder.approval()
    story.log[2].command = HistoryBuilder.id(77)
    #expect(story.ended().verdict(NothingLost()).isViolated)
    // The same question, asked once more under another id, is what was promised.
    var again = HistoryBuilder.approval()
    again.note(.acknowledged(HistoryBuilder.emily, HistoryBuilder.id(55), seq: 2))
    #expect(again.ended().verdict(NothingLost()) == .ok)
  }

  @Test("X2: two events of one command are one too many")
  func twiceInTheLog() {
    var story = HistoryBuilder.approval()
    story.event(.posted(child: PersonID(3), .text("a")), by: 1, command: 9)
    #expect(story.ended().verdict(NothingTwice()) == .ok)
    story.event(.posted(child: PersonID(3), .text("a")), by: 1, command: 9)
    #expect(story.ended().verdict(NothingTwice()).isViolated)
  }

  @Test("X2: a device applies an event once more only if its disk forgot it")
  func twiceOnADevice() {
    let again = HistoryBuilder.approval { $0.apply(2, on: HistoryBuilder.alex) }
    #expect(again.ended().verdict(NothingTwice()).isViolated)
    let forgotten = HistoryBuilder.approval {
      $0.note(
        .forgot(HistoryBuilder.alex), .restored(HistoryBuilder.alex, .family, [1], cursor: 1),
        .restored(HistoryBuilder.alex, .conversation(PersonID(3)), [], cursor: 0))
      $0.apply(2, on: HistoryBuilder.alex)
    }
    #expect(forgotten.ended().violated == [])
  }

  @Test("R3: a second decision in the log, and another one on a device")
  func decisions() {
    var second = HistoryBuilder.approval()
    second.event(HistoryBuilder.decision(.approve), by: 2)
    #expect(second.ended().verdict(OneDecision()).isViolated)
    let other = HistoryBuilder.approval {
      $0.note(.decided(HistoryBuilder.alex, HistoryBuilder.question.id, choice: "decline"))
    }
    #expect(other.ended().verdict(OneDecision()).isViolated)
    // All devices agree, and the log does not.
    var forged = HistoryBuilder.approval()
    forged.log[2].body = HistoryBuilder.decision(.decline)
    #expect(forged.ended().verdict(OneDecision()).isViolated)
  }

  @Test("M3, M5: a device that skips an event, or starts with a gap, is out of order")
  func order() {
    var story = HistoryBuilder()
    story.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    for text in ["a", "b"] { story.event(.posted(child: PersonID(3), .text(text)), by: 1) }
    var skipped = story
    skipped.apply(3, on: HistoryBuilder.emily)
    #expect(skipped.ended().verdict(OneOrder()).isViolated)
    var reversed = story
    reversed.apply(3, on: HistoryBuilder.emily)
    reversed.apply(2, on: HistoryBuilder.emily)
    #expect(reversed.ended().verdict(OneOrder()).isViolated)
    var other = story
    other.note(
      .applied(HistoryBuilder.emily, .conversation(PersonID(3)), seq: 2, HistoryBuilder.id(9)))
    #expect(other.ended().verdict(OneOrder()).isViolated)
    let talk = Audience.conversation(PersonID(3))
    var gap = story
    gap.note(.restored(HistoryBuilder.emily, talk, [3], cursor: 3))
    #expect(gap.ended().verdict(OneOrder()).isViolated)
    // The cursor says more than the disk has.
    var ahead = story
    ahead.note(.restored(HistoryBuilder.emily, talk, [2], cursor: 3))
    #expect(ahead.ended().verdict(OneOrder()).isViolated)
    story.note(.restored(HistoryBuilder.emily, talk, [2], cursor: 2))
    story.apply(3, on: HistoryBuilder.emily)
    #expect(story.ended().verdict(OneOrder()) == .ok)
  }

  @Test("an event reaches nobody outside its audience; who leaves keeps what came before")
  func audience() {
    func told(_ device: DeviceAddress, _ seq: UInt64) -> Verdict {
      var story = HistoryBuilder.approval()
      var smaller = HistoryBuilder.roster
      smaller.devices.removeAll { $0.id == DeviceID(2) }
      story.event(.rosterChanged(smaller), by: 0, in: .family)
      story.event(.posted(child: PersonID(3), .text("a")), by: 1)
      story.note(.received(device, seq == 4 ? .family : .conversation(PersonID(3)), seq: seq))
      return story.ended().verdict(AudienceKept())
    }
    #expect(told(HistoryBuilder.rosa, 5) == .ok)
    #expect(told(HistoryBuilder.alex, 3) == .ok)
    #expect(told(HistoryBuilder.alex, 4) == .ok)
    #expect(told(HistoryBuilder.alex, 5).isViolated)
    #expect(told(HistoryBuilder.address(9), 5).isViolated)
    #expect(told(DeviceAddress(family: FamilyID(2), device: DeviceID(1)), 1).isViolated)
  }

  @Test("R6: an acknowledged response is not handled again, unless the app's disk forgot it")
  func handled() {
    func again(_ between: Fact?, choice: String = "approve") -> Verdict {
      var story = HistoryBuilder.approval()
      if let between { story.note(between) }
      story.note(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: choice))
      return story.ended().verdict(HandledOnce())
    }
    #expect(again(nil).isViolated)
    #expect(again(.appForgot(HistoryBuilder.landmarks)) == .ok)
    // A crash between handling and acknowledging.
    var crash = HistoryBuilder.approval(skip: ["handled"])
    crash.note(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "approve"))
    crash.note(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "approve"))
    #expect(crash.ended().verdict(HandledOnce()) == .ok)
    crash.note(.handled(HistoryBuilder.landmarks, HistoryBuilder.question.id, choice: "decline"))
    #expect(crash.ended().verdict(HandledOnce()).isViolated)
  }

  @Test("without the store at the end there is no verdict on what it has")
  func unknown() {
    let verdicts = HistoryBuilder.approval().history.verdicts()
    #expect(verdicts.filter { if case .unknown = $0.verdict { true } else { false } }.count == 6)
    #expect(HistoryBuilder.approval().history.violated == [])
  }
}
