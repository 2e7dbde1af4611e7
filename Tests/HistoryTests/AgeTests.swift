import FamilyModel
import History
import Testing

@Suite struct AgeTests {
  private static let child = PersonID(3)
  private static let teen = AgeRange(lower: 13, upper: 15, declaration: .guardianDeclared)

  /// What is said of these facts, of a child of 13 whose guardians set this.
  private func verdict(
    _ facts: [Fact], sharing: AgeSharing = .askFirst, region: String = "US"
  ) -> Verdict {
    var story = HistoryBuilder()
    story.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    // Stories happen on the first day of 1970.
    let account = Account(
      birthdate: Account.Day(year: 1956, month: 5, day: 17), region: region,
      declaration: .guardianDeclared)
    var settings = AgeSettings()
    settings.sharing = sharing
    let audience = Audience.account(Self.child)
    story.event(.accountChanged(Self.child, .account(account)), by: 1, in: audience)
    story.event(.ageSet(Self.child, .ageSettings(settings), proof: []), by: 1, in: audience)
    for seq: UInt64 in [2, 3] { story.apply(seq, on: HistoryBuilder.emily) }
    story.note(.askedAge(HistoryBuilder.landmarks, [13, 16]))
    for fact in facts { story.note(fact) }
    return story.ended().verdict(AgesDeclared())
  }

  private func told(_ range: AgeRange) -> [Fact] {
    [.agreed(HistoryBuilder.landmarks), .ageTold(HistoryBuilder.landmarks, range)]
  }

  @Test("D3, D4: the range told is between gates, holds a declared birthdate, and says how")
  func declared() {
    #expect(verdict(told(Self.teen)) == .ok)
    var range = Self.teen
    range.declaration = nil
    #expect(verdict(told(range)) == .ok)
    range.declaration = .selfDeclared
    #expect(verdict(told(range)).isViolated)
    for (lower, upper) in [(13, 14), (13, 13), (nil, 12), (16, nil), (12, 15)] as [(Int32?, Int32?)]
    {
      range = AgeRange(lower: lower, upper: upper, declaration: nil)
      #expect(verdict(told(range)).isViolated, "\(range)")
    }
  }

  @Test("D6, D12: a range is told where the person, the settings or the law say so")
  func agreed() {
    let told = [Fact.ageTold(HistoryBuilder.landmarks, Self.teen)]
    #expect(verdict(told).isViolated)
    #expect(verdict(told, sharing: .never).isViolated)
    #expect(verdict(told, sharing: .always) == .ok)
    #expect(verdict(told, region: "US-TX") == .ok)
    let other = AppAddress(HistoryBuilder.emily, AppID("example.other"))
    #expect(verdict([.agreed(other)] + told).isViolated)
  }

  @Test("D5: controls are told of those below the age of majority only")
  func controls() {
    var range = Self.teen
    range.controls = .communicationLimits
    #expect(verdict(told(range)) == .ok)
    range = AgeRange(lower: 13, upper: nil, declaration: nil, controls: .communicationLimits)
    #expect(verdict(told(range)).isViolated)
  }

  @Test("F2, D10: a birthdate is in its audience only; devices remember alike what was told")
  func devices() {
    #expect(verdict([.holdsBirthdate(HistoryBuilder.alex, Self.child)]) == .ok)
    #expect(verdict([.holdsBirthdate(HistoryBuilder.address(8), Self.child)]).isViolated)
    #expect(verdict([.holdsBirthdate(HistoryBuilder.emily, PersonID(1))]).isViolated)
    var memory = AgeMemory()
    let before = Fact.remembersAge(HistoryBuilder.emily, Self.child, HistoryBuilder.app, memory)
    memory.note(
      AgeAnswer(
        gates: [13], day: Account.Day(year: 1970, month: 1, day: 1), range: Self.teen))
    let after = Fact.remembersAge(HistoryBuilder.alex, Self.child, HistoryBuilder.app, memory)
    #expect(verdict([before]) == .ok)
    #expect(verdict([before, after]).isViolated)
  }
}
