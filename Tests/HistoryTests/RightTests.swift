import FamilyModel
import History
import Testing

@Suite struct RightTests {
  /// The verdict on a further event after an open question.
  private func verdict(
    _ body: Event.Body, by device: UInt32, at: Int64 = 0, expiration: Int64? = nil,
    before: Event.Body? = nil
  ) -> Verdict {
    var builder = HistoryBuilder()
    builder.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    let header = HistoryBuilder.header(expiration: expiration.map { Instant(milliseconds: $0) })
    builder.event(.asked(header, .question(HistoryBuilder.question)), by: 3)
    if let before { builder.event(before, by: 1) }
    builder.event(body, by: device, at: at)
    return builder.ended().verdict(RightfulEvents())
  }

  @Test("R3, R8: only guardians may decide, only open questions, and in time")
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

  @Test("T2, T4: finds an id ahead of the relay's clock, and a roster with a removed device")
  func early() {
    func verdict(_ change: (inout HistoryBuilder) -> Void) -> Verdict {
      var builder = HistoryBuilder()
      builder.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
      change(&builder)
      return builder.ended().verdict(RightfulEvents())
    }
    func post(_ builder: inout HistoryBuilder, _ time: Instant) {
      builder.event(.posted(child: PersonID(3), .text("hi")), by: 3)
      builder.log[1].command = CommandID(high: UInt64(time.milliseconds) << 16, low: 1)
    }
    let start = Instant(milliseconds: 0)
    #expect(verdict { post(&$0, start + Limits.idLead) } == .ok)
    #expect(verdict { post(&$0, start + Limits.idLead + .milliseconds(1)) }.isViolated)
    var signed = HistoryBuilder.roster
    for index in signed.devices.indices { signed.devices[index].signingKey = [UInt8(index)] }
    var smaller = signed
    smaller.devices.removeLast()
    func rosters(_ last: Roster) -> Verdict {
      verdict { builder in
        for roster in [signed, smaller, last] {
          builder.event(.rosterChanged(roster), by: 0, in: .family)
        }
      }
    }
    #expect(rosters(smaller) == .ok)
    #expect(rosters(signed).isViolated)
  }

  @Test("Q9, Q11: a child may ask its own question once, whether or not limits are on")
  func questions() {
    var other = HistoryBuilder.header()
    other.id = HistoryBuilder.id(101)
    #expect(verdict(.asked(other, .question(HistoryBuilder.question)), by: 3) == .ok)
    #expect(verdict(.asked(other, .question(HistoryBuilder.question)), by: 1).isViolated)
    #expect(
      verdict(.asked(HistoryBuilder.header(), .question(HistoryBuilder.question)), by: 3).isViolated
    )
    let off = Event.Body.limitsChanged(child: PersonID(3), on: false)
    #expect(verdict(.asked(other, .question(HistoryBuilder.question)), by: 3, before: off) == .ok)
  }

  @Test(
    "F5, F6, K1, R9: only guardians may change limits, contacts, approvals and children's accounts")
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

  private static let mary = Handle("+1 555", .phoneNumber)

  private func known(
    _ handles: [Handle], named: [Handle] = [HistoryBuilder.ada, mary.canonical],
    _ events: Event.Body...,
    at end: [Handle]? = nil
  ) -> Verdict {
    var builder = HistoryBuilder.approval(skip: ["handled"])
    for body in events { builder.event(body, by: 1) }
    builder.record(.knows(HistoryBuilder.landmarks, handles, named: named))
    if let end { builder.record(.knows(HistoryBuilder.landmarks, end, named: named)) }
    return builder.ended().verdict(KnownHandlesRight())
  }

  @Test("K1, K3, K5: apps must know exactly the approved handles that are not withdrawn")
  func knownHandles() {
    let mary = Self.mary
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

  @Test("T2, R9: a withdrawal whose signer knew the approval counts, whatever the ids say")
  func statements() {
    func verdict(knowing seq: UInt64) -> Verdict {
      var builder = HistoryBuilder.approval(skip: ["handled"])
      let approval = builder.log.count - 1
      builder.event(
        .withdrawn(child: PersonID(3), .withdrawal(.handle(HistoryBuilder.ada, in: nil))), by: 2)
      for index in builder.log.indices {
        let known = index > approval ? seq : UInt64(index)
        builder.log[index].signature = Signature(
          signer: builder.log[index].device,
          knowing: Knowledge(audience: ChainPosition(seq: known)),
          bytes: Array(repeating: 0, count: Signature.byteCount))
      }
      builder.log[approval].command = ID128(high: 9, low: 1)
      builder.record(.knows(HistoryBuilder.landmarks, [], named: [HistoryBuilder.ada]))
      return builder.ended().verdict(KnownHandlesRight())
    }
    #expect(verdict(knowing: 3) == .ok)
    // Without this knowledge, the later id counts.
    #expect(verdict(knowing: 2).isViolated)
  }

  @Test("K6: an app may know only handles that it has named, and need not know others")
  func namedHandles() {
    let contact = Event.Body.contactChanged(child: PersonID(3), .contact(Self.mary, known: true))
    #expect(known([HistoryBuilder.ada], named: []).isViolated)
    #expect(known([HistoryBuilder.ada], named: [HistoryBuilder.ada], contact) == .ok)
    #expect(known([HistoryBuilder.ada], contact).isViolated)
  }

  @Test("K5: a custom name may be known only in the app that asked")
  func customNames() {
    var builder = HistoryBuilder.approval()
    let other = AppAddress(HistoryBuilder.emily, AppID("example.other"))
    builder.record(.knows(other, [HistoryBuilder.ada], named: [HistoryBuilder.ada]))
    #expect(builder.ended().verdict(KnownHandlesRight()).isViolated)
  }

  @Test("K6: an app may know an approved handle before the device confirms its name")
  func unconfirmed() {
    var builder = HistoryBuilder.approval()
    builder.record(
      .names(HistoryBuilder.landmarks, [HistoryBuilder.ada]),
      .knows(HistoryBuilder.landmarks, [HistoryBuilder.ada], named: []))
    #expect(builder.ended().verdict(KnownHandlesRight()) == .ok)
  }

  @Test("K6: a device that lost its state knows no names before the family's first event")
  func emptied() {
    func verdict(_ facts: Fact...) -> Verdict {
      var builder = HistoryBuilder.approval(skip: ["handled"])
      builder.record(.lostState(HistoryBuilder.emily))
      for fact in facts { builder.record(fact) }
      return builder.ended().verdict(KnownHandlesRight())
    }
    let nothing = Fact.knows(HistoryBuilder.landmarks, [], named: [HistoryBuilder.ada])
    let first = Fact.applied(HistoryBuilder.emily, .family, seq: 1, HistoryBuilder.id(100))
    #expect(verdict(nothing) == .ok && verdict(nothing, first) == .ok)
    #expect(verdict(first, nothing).isViolated && verdict(nothing, first, nothing).isViolated)
  }

  @Test("a log with sealed content gives no verdict on known handles")
  func sealed() {
    var builder = HistoryBuilder.approval()
    builder.event(.withdrawn(child: PersonID(3), .sealed([1])), by: 1)
    let verdict = builder.ended().verdict(KnownHandlesRight())
    if case .unknown = verdict {} else { Issue.record("\(verdict)") }
  }
}
