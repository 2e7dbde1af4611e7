import FamilyCore
import FamilyModel
import Testing

/// The rule by which contents are erased, on the log of a relay's machine.
@Suite struct ErasurePlanTests {
  private static let conversation = Audience.conversation(PersonID(3))
  private static let sealed = Content.sealed([1, 2, 3])
  private var fixture = RelayMachineFixture()

  /// The positions that lose their contents, after all events of the log.
  private func erased(endedBy end: Instant? = nil, _ persons: Set<PersonID> = []) -> [Int] {
    var plan = ErasurePlan(
      endedBy: end, persons: persons.isEmpty ? [:] : [RelayMachineFixture.id: persons])
    var positions: [Int] = []
    for event in fixture.log {
      positions += plan.add(event, of: RelayMachineFixture.id, at: Int(event.seq))
    }
    return (positions + plan.finish()).sorted()
  }

  private mutating func ask(_ number: UInt64, expires: Instant? = nil) throws -> Int {
    var question = RelayMachineFixture.question(number)
    question.expiration = expires
    return Int(try fixture.ask(question).get())
  }

  private mutating func answer(_ number: UInt64, _ choice: String) throws {
    let id = RelayMachineFixture.question(number).id
    _ = try fixture.command(20, .answer(id, choice: choice)).get()
  }

  @Test("O6: texts and questions without approval are erased after their time, and no others")
  mutating func retention() throws {
    let text = Int(
      try fixture.command(30, .post(child: PersonID(3), Self.sealed)).get())
    _ = try ask(1)
    try answer(1, "approve")
    let declined = try ask(2)
    try answer(2, "decline")
    let cancelled = try ask(3)
    _ = try fixture.command(30, .cancel(RelayMachineFixture.question(3).id)).get()
    let expired = try ask(4, expires: fixture.now + .minutes(1))
    _ = try ask(5)
    _ = try fixture.command(
      20, .changeContact(child: PersonID(3), Self.sealed)
    ).get()
    let end = fixture.now
    #expect(erased(endedBy: end - .milliseconds(1)) == [], "nothing has ended before")
    #expect(erased(endedBy: end) == [text, declined, cancelled])
    #expect(erased(endedBy: end + .minutes(1)) == [text, declined, cancelled, expired])
  }

  @Test("O6: a question that is declined after the time keeps its content until later")
  mutating func late() throws {
    let asked = try ask(1)
    let before = fixture.now
    fixture.now = fixture.now + .minutes(5)
    try answer(1, "decline")
    #expect(erased(endedBy: before) == [])
    #expect(erased(endedBy: fixture.now) == [asked])
  }

  @Test("O6: contents of a removed person are erased, and those of others stay")
  mutating func person() throws {
    let approved = try ask(1)
    try answer(1, "approve")
    let own = Int(try fixture.command(30, .post(child: PersonID(3), Self.sealed)).get())
    let account = Int(try fixture.command(10, .setAccount(PersonID(3), Self.sealed)).get())
    let guardians = Int(try fixture.command(20, .post(child: PersonID(3), Self.sealed)).get())
    let others = Int(try fixture.command(20, .post(child: PersonID(4), Self.sealed)).get())
    _ = try fixture.command(40, .post(child: PersonID(4), Self.sealed)).get()
    #expect(erased([PersonID(3)]) == [approved, own, account, guardians])
    #expect(erased([PersonID(2)]) == [guardians, others])
  }

  @Test("O6: a plan names persons who are members still, and persons that no roster had")
  func members() {
    let persons: Set = [PersonID(3), PersonID(77)]
    var plan = ErasurePlan(persons: [RelayMachineFixture.id: persons])
    for event in fixture.log {
      _ = plan.add(event, of: RelayMachineFixture.id, at: Int(event.seq))
    }
    #expect(plan.membersOrUnknown == [RelayMachineFixture.id: persons])
    var next = fixture.log[0]
    var roster = RelayMachineFixture.roster
    roster.persons.removeAll { $0.id == PersonID(3) }
    roster.devices.removeAll { $0.person == PersonID(3) }
    next.body = .rosterChanged(roster)
    _ = plan.add(next, of: RelayMachineFixture.id, at: 2)
    #expect(plan.membersOrUnknown == [RelayMachineFixture.id: [PersonID(77)]])
  }
}
