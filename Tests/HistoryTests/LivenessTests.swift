import FamilyModel
import History
import Testing

@Suite struct LivenessTests {
  private func verdict(_ story: HistoryBuilder, _ after: Fact? = nil) -> Verdict {
    (after.map { story.ended($0) } ?? story.ended()).verdict(EverythingArrives())
  }

  @Test("X2: a promised command is in the log, or was refused, at the end")
  func promises() {
    // Settled without a word is settled: the device learns it from the log.
    #expect(verdict(HistoryBuilder.approval(skip: ["acknowledged"])) == .ok)
    let lost = HistoryBuilder.approval {
      $0.note(.issued(HistoryBuilder.alex, HistoryBuilder.id(50)))
    }
    #expect(verdict(lost).isViolated)
    let refused = HistoryBuilder.approval {
      $0.note(
        .issued(HistoryBuilder.alex, HistoryBuilder.id(50)),
        .refused(HistoryBuilder.alex, HistoryBuilder.id(50), .expired))
    }
    #expect(verdict(refused) == .ok)
    // Who is not in the family at the end is owed nothing.
    let stranger = HistoryBuilder.approval {
      $0.note(.issued(HistoryBuilder.address(8), HistoryBuilder.id(50)))
    }
    #expect(verdict(stranger) == .ok)
  }

  @Test("X2: a promise of a disk that was lost is not owed")
  func forgotten() {
    let story = HistoryBuilder.approval {
      $0.note(.issued(HistoryBuilder.alex, HistoryBuilder.id(50)), .forgot(HistoryBuilder.alex))
      for seq: UInt64 in [1, 2] { $0.apply(seq, on: HistoryBuilder.alex) }
    }
    #expect(verdict(story) == .ok)
  }

  @Test("A3: a question that the app was told to be sent is in the log")
  func sent() {
    let lost = HistoryBuilder.approval {
      $0.note(.sent(HistoryBuilder.landmarks, HistoryBuilder.id(60)))
    }
    #expect(verdict(lost).isViolated)
    let refused = HistoryBuilder.approval {
      $0.note(
        .sent(HistoryBuilder.landmarks, HistoryBuilder.id(60)),
        .issued(HistoryBuilder.emily, HistoryBuilder.id(61)),
        .refused(HistoryBuilder.emily, HistoryBuilder.id(61), .alreadyAsked))
    }
    #expect(verdict(refused) == .ok)
  }

  @Test("R4, M5: every event reaches every device of its audience")
  func devices() {
    #expect(verdict(HistoryBuilder.approval(skip: ["decision"])).isViolated)
    var text = HistoryBuilder.approval()
    text.event(.posted(child: PersonID(3), .text("a")), by: 1)
    #expect(verdict(text).isViolated)
    for device in [HistoryBuilder.rosa, HistoryBuilder.alex, HistoryBuilder.emily] {
      text.apply(4, on: device)
    }
    #expect(verdict(text) == .ok)
    text.note(.forgot(HistoryBuilder.alex))
    #expect(verdict(text).isViolated)
  }

  @Test("R6: every decision is handled by the app that asked, if it listens")
  func apps() {
    #expect(verdict(HistoryBuilder.approval(skip: ["handled"])).isViolated)
    let deaf = HistoryBuilder.approval(skip: ["handled"]) {
      $0.note(.appForgot(HistoryBuilder.landmarks))
    }
    #expect(verdict(deaf) == .ok)
  }

  @Test("what is under way for ever is a violation; a run that was not healed has no verdict")
  func rest() {
    #expect(verdict(HistoryBuilder.approval(), .stuck("a device")).isViolated)
    var history = HistoryBuilder.approval().history
    history.note(.storeRead, at: Instant(milliseconds: 0))
    if case .unknown = history.verdict(EverythingArrives()) {} else { Issue.record("a verdict") }
  }
}
