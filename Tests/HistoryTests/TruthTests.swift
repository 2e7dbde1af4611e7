import FamilyModel
import History
import Testing

/// Tests of the checkers that compare statements and views instead of logs.
@Suite struct TruthTests {
  private static let emily = HistoryBuilder.emily

  private func verdict(_ checker: some Checker, _ facts: Fact...) -> Verdict {
    var history = History()
    for fact in facts { history.record(fact, at: Instant(milliseconds: 0)) }
    return checker.check(history)
  }

  private static func view(
    _ roster: Roster = HistoryBuilder.roster, passcode: [UInt8] = [1], generations: [UInt64] = [0],
    limitsOn: Bool? = true, open: [QuestionID] = [], known: [FamilyView.Known]? = [],
    withdrawn: [AppID]? = [], account: Account? = nil, age: AgeSettings = AgeSettings()
  ) -> FamilyView {
    let emily = FamilyView.Child(
      PersonID(3), limitsOn: limitsOn, open: open, known: known, withdrawn: withdrawn)
    return FamilyView(
      roster: roster, passcodeKey: passcode, generations: generations, children: [emily],
      persons: [FamilyView.Person(PersonID(3), account: account, age: age)])
  }

  @Test("T10: relay and devices must hold the same roster, settings and questions at rest")
  func views() {
    let relay = Fact.relayViews(HistoryBuilder.family, Self.view(limitsOn: nil, known: nil))
    #expect(self.verdict(OneTruth(), relay).isViolated)
    let limited = Fact.relayViews(HistoryBuilder.family, Self.view(limitsOn: false, known: nil))
    #expect(self.verdict(OneTruth(), limited, .views(Self.emily, Self.view())).isViolated)
    func verdict(_ view: FamilyView) -> Verdict {
      self.verdict(
        OneTruth(), relay, .views(HistoryBuilder.rosa, Self.view()), .views(Self.emily, view))
    }
    #expect(verdict(Self.view()) == .ok)
    var smaller = HistoryBuilder.roster
    smaller.devices.removeFirst()
    let ada = FamilyView.Known(HistoryBuilder.ada, in: nil)
    let young = Account(birthdate: nil, region: "FR", declaration: .guardianDeclared)
    var always = AgeSettings()
    always.sharing = .always
    for other in [
      Self.view(smaller), Self.view(passcode: [2]), Self.view(generations: [1]),
      Self.view(limitsOn: false), Self.view(open: [HistoryBuilder.question.id]),
      Self.view(known: [ada]), Self.view(withdrawn: [HistoryBuilder.app]),
      Self.view(account: young), Self.view(age: always),
    ] { #expect(verdict(other).isViolated) }
  }

  @Test("T10: the log gives the roster, the open questions and the newest limits")
  func log() {
    var builder = HistoryBuilder()
    builder.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    builder.event(.limitsChanged(child: PersonID(3), on: true), by: 1)
    builder.event(.limitsChanged(child: PersonID(3), on: false), by: 2)
    builder.event(.asked(HistoryBuilder.header(), .question(HistoryBuilder.question)), by: 3)
    func view() -> FamilyView { FamilyView(ofLog: builder.log) { _, _ in 0 } }
    #expect(view().roster == HistoryBuilder.roster)
    #expect(view().children.map(\.limitsOn) == [false])
    #expect(view().children.map(\.open) == [[HistoryBuilder.question.id]])
    builder.event(HistoryBuilder.decision(.approve), by: 1)
    #expect(view().children.map(\.open) == [[]])
  }

  @Test("K6: a handle must be approved on a guardian's device before an app knows it")
  func approvals() {
    let owner = Fact.belongs(Self.emily, PersonID(3), signingKey: [3])
    let knows = Fact.knows(
      HistoryBuilder.landmarks, [HistoryBuilder.ada], named: [HistoryBuilder.ada])
    func approves(_ child: UInt32 = 3, in app: AppID?) -> Fact {
      .approves(HistoryBuilder.rosa, child: PersonID(child), [HistoryBuilder.ada], in: app)
    }
    let checker = HandlesApproved()
    #expect(verdict(checker, owner, approves(in: nil), knows) == .ok)
    #expect(verdict(checker, owner, approves(in: HistoryBuilder.app), knows) == .ok)
    #expect(verdict(checker, owner, approves(in: AppID("other")), knows).isViolated)
    #expect(verdict(checker, owner, approves(4, in: nil), knows).isViolated)
    #expect(verdict(checker, owner, knows, approves(in: nil)).isViolated)
  }

  @Test("T4: finds a removed device, a stranger and a changed key in a verified roster")
  func rosters() {
    func device(_ number: UInt32, _ key: UInt8) -> Device {
      Device(id: DeviceID(number), person: PersonID(1), publicKey: [], signingKey: [key])
    }
    let owners = (1...2).map {
      Fact.belongs(HistoryBuilder.address($0), PersonID($0), signingKey: [UInt8($0)])
    }
    func verdict(_ rosters: [Device]..., between: Fact? = nil) -> Verdict {
      var facts = owners
      for roster in rosters {
        facts.append(.holdsRoster(Self.emily, roster))
        if let between { facts.append(between) }
      }
      var history = History()
      for fact in facts { history.record(fact, at: Instant(milliseconds: 0)) }
      return NobodyReturns().check(history)
    }
    let (one, two) = (device(1, 1), device(2, 2))
    #expect(verdict([one], [one, two], [one]) == .ok)
    #expect(verdict([one, two], [one], [one, two]).isViolated)
    #expect(verdict([one, two], [one], [one, two], between: .lostState(Self.emily)) == .ok)
    #expect(verdict([one, device(3, 3)]).isViolated)
    #expect(verdict([one, device(2, 9)]).isViolated)
  }

  @Test("T5: a verified statement must be made by its author, and count once")
  func statements() {
    let id = HistoryBuilder.id(7)
    let names = [CommandName(DeviceID(1), id)]
    let checker = NothingForged()
    let issued = Fact.issued(HistoryBuilder.rosa, id)
    #expect(verdict(checker, issued, .holds(Self.emily, names)) == .ok)
    #expect(verdict(checker, .signs(HistoryBuilder.rosa, id), .holds(Self.emily, names)) == .ok)
    #expect(verdict(checker, issued, .holds(Self.emily, names + names)).isViolated)
    #expect(
      verdict(checker, .issued(HistoryBuilder.alex, id), .holds(Self.emily, names)).isViolated)
  }

  @Test("T8: finds a guess before its delay, also after a reset")
  func guesses() {
    let family = HistoryBuilder.family
    func guess(_ number: Int, at seconds: Int64 = 0) -> Fact {
      .guessed(family, [UInt8(number)], at: Instant(milliseconds: seconds * 1_000))
    }
    func verdict(_ facts: [Fact]) -> Verdict {
      var history = History()
      for fact in facts { history.record(fact, at: Instant(milliseconds: 0)) }
      return GuessesBounded().check(history)
    }
    let free = (1...Limits.passcodeGuesses).map { guess($0) }
    #expect(verdict(free) == .ok)
    #expect(verdict(free + [guess(9, at: 59)]).isViolated)
    #expect(verdict(free + [free.last!, guess(9, at: 60)]) == .ok)
    #expect(verdict(free + [guess(9, at: 60), guess(10, at: 359)]).isViolated)
    #expect(verdict(free + [.guessesReset(family)] + free) == .ok)
  }
}
