import FamilyModel
import History
import Testing

@Suite struct AgeTests {
  private static let child = PersonID(3)
  private static let teen = AgeRange(lower: 13, upper: 15, declaration: .guardianDeclared)

  /// The verdict on these facts about a child of 13 with these settings.
  private func verdict(
    _ facts: [Fact], sharing: AgeSharing = .askFirst, region: String = "US",
    regions: RegionTable = .standard
  ) -> Verdict {
    var builder = HistoryBuilder()
    builder.event(.rosterChanged(HistoryBuilder.roster), by: 0, in: .family)
    // Stories happen on the first day of 1970.
    let account = Account(
      birthdate: Account.Day(year: 1956, month: 5, day: 17), region: region,
      declaration: .guardianDeclared)
    var settings = AgeSettings()
    settings.sharing = sharing
    let audience = Audience.account(Self.child)
    builder.event(.accountChanged(Self.child, .account(account)), by: 1, in: audience)
    builder.event(.ageSet(Self.child, .ageSettings(settings), proof: []), by: 1, in: audience)
    for seq: UInt64 in [2, 3] { builder.apply(seq, on: HistoryBuilder.emily) }
    builder.record(.requestedAge(HistoryBuilder.landmarks, [13, 16]))
    for fact in facts { builder.record(fact) }
    return builder.ended().verdict(AgesDeclared(regions: regions))
  }

  private func told(_ range: AgeRange) -> [Fact] {
    [.consented(HistoryBuilder.landmarks), .ageShared(HistoryBuilder.landmarks, range)]
  }

  @Test(
    "D3, D4: accepts a range only if it is bounded by gates, declared correctly and contains the age"
  )
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

  @Test("D6, D12: accepts a shared range only by consent, settings or law")
  func agreed() throws {
    let law = try RegionTable(
      csv: Array(
        (RegionTable.columns.joined(separator: ",")
          + "\nUS-TX,,,,,,Act,,,1960-01-01,,,13 16 18,high,source").utf8))
    let told = [Fact.ageShared(HistoryBuilder.landmarks, Self.teen)]
    #expect(verdict(told).isViolated)
    #expect(verdict(told, sharing: .never).isViolated)
    #expect(verdict(told, sharing: .always) == .ok)
    #expect(verdict(told, region: "US-TX", regions: law) == .ok)
    #expect(verdict(told, region: "US-TX").isViolated)
    let other = AppAddress(HistoryBuilder.emily, AppID("example.other"))
    #expect(verdict([.consented(other)] + told).isViolated)
  }

  @Test("D5: accepts parental controls only below the age of majority")
  func controls() {
    var range = Self.teen
    range.controls = .communicationLimits
    #expect(verdict(told(range)) == .ok)
    range = AgeRange(lower: 13, upper: nil, declaration: nil, controls: .communicationLimits)
    #expect(verdict(told(range)).isViolated)
  }

  @Test("F2, D10: finds a birthdate outside its audience and devices with different age answers")
  func devices() {
    #expect(verdict([.holdsBirthdate(HistoryBuilder.alex, Self.child)]) == .ok)
    #expect(verdict([.holdsBirthdate(HistoryBuilder.address(8), Self.child)]).isViolated)
    #expect(verdict([.holdsBirthdate(HistoryBuilder.emily, PersonID(1))]).isViolated)
    var memory = AgeMemory()
    let before = Fact.remembersAge(HistoryBuilder.emily, Self.child, HistoryBuilder.app, memory)
    memory.add(
      AgeAnswer(
        gates: [13], day: Account.Day(year: 1970, month: 1, day: 1), range: Self.teen))
    let after = Fact.remembersAge(HistoryBuilder.alex, Self.child, HistoryBuilder.app, memory)
    #expect(verdict([before]) == .ok)
    #expect(verdict([before, after]).isViolated)
  }
}
