import FamilyModel
import History
import Testing

@Suite struct LivenessTests {
  private func verdict(_ builder: HistoryBuilder, _ after: Fact? = nil) -> Verdict {
    (after.map { builder.ended($0) } ?? builder.ended()).verdict(EverythingArrives())
  }

  @Test("X2: an issued command must be in the log or refused at the end")
  func promises() {
    // An unacknowledged command in the log is fine: its device learns the result from the log.
    #expect(verdict(HistoryBuilder.approval(skip: ["acknowledged"])) == .ok)
    let lost = HistoryBuilder.approval {
      $0.record(.issued(HistoryBuilder.alex, HistoryBuilder.id(50)))
    }
    #expect(verdict(lost).isViolated)
    let refused = HistoryBuilder.approval {
      $0.record(
        .issued(HistoryBuilder.alex, HistoryBuilder.id(50)),
        .refused(HistoryBuilder.alex, HistoryBuilder.id(50), .expired))
    }
    #expect(verdict(refused) == .ok)
    // Devices outside the family at the end do not count.
    let stranger = HistoryBuilder.approval {
      $0.record(.issued(HistoryBuilder.address(8), HistoryBuilder.id(50)))
    }
    #expect(verdict(stranger) == .ok)
  }

  @Test("X2: a command of a lost disk need not arrive")
  func forgotten() {
    let builder = HistoryBuilder.approval {
      $0.record(
        .issued(HistoryBuilder.alex, HistoryBuilder.id(50)), .lostState(HistoryBuilder.alex))
      for seq: UInt64 in [1, 2] { $0.apply(seq, on: HistoryBuilder.alex) }
    }
    #expect(verdict(builder) == .ok)
  }

  @Test("A3: a question that was reported as sent must be in the log")
  func sent() {
    let lost = HistoryBuilder.approval {
      $0.record(.sent(HistoryBuilder.landmarks, HistoryBuilder.id(60)))
    }
    #expect(verdict(lost).isViolated)
    // The refusal of another command excuses nothing.
    for (question, isExcused) in [(HistoryBuilder.id(60), true), (HistoryBuilder.id(62), false)] {
      let refused = HistoryBuilder.approval {
        $0.record(
          .sent(HistoryBuilder.landmarks, HistoryBuilder.id(60)),
          .issued(
            HistoryBuilder.emily, HistoryBuilder.id(61),
            OutboxEntry(position: 1, question: question)),
          .refused(HistoryBuilder.emily, HistoryBuilder.id(61), .alreadyAsked))
      }
      #expect(verdict(refused).isViolated == !isExcused)
    }
  }

  @Test("R4, M5: every event must reach every device of its audience")
  func devices() {
    #expect(verdict(HistoryBuilder.approval(skip: ["decision"])).isViolated)
    var text = HistoryBuilder.approval()
    text.event(.posted(child: PersonID(3), .text("a")), by: 1)
    #expect(verdict(text).isViolated)
    for device in [HistoryBuilder.rosa, HistoryBuilder.alex, HistoryBuilder.emily] {
      text.apply(4, on: device)
    }
    #expect(verdict(text) == .ok)
    text.record(.lostState(HistoryBuilder.alex))
    #expect(verdict(text).isViolated)
  }

  @Test("R6: the app that asked must handle every decision if it is registered")
  func apps() {
    #expect(verdict(HistoryBuilder.approval(skip: ["handled"])).isViolated)
    let deaf = HistoryBuilder.approval(skip: ["handled"]) {
      $0.record(.appLostState(HistoryBuilder.landmarks))
    }
    #expect(verdict(deaf) == .ok)
  }

  @Test("missing convergence is a violation; a run without healing has no verdict")
  func rest() {
    #expect(verdict(HistoryBuilder.approval(), .notConverged("a device")).isViolated)
    var history = HistoryBuilder.approval().history
    history.record(.storeRead, at: Instant(milliseconds: 0))
    if case .unknown = history.verdict(EverythingArrives()) {} else { Issue.record("a verdict") }
  }
}
