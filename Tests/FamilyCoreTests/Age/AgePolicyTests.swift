@testable import FamilyCore
import FamilyModel
import Testing

private let today = day(2026, 11, 21)

private func rig(_ age: Int32, _ change: (inout AgeFixture) -> Void = { _ in }) -> AgeFixture {
  var rig = AgeFixture(born: day(2026 - age, 5, 17), today: today)
  change(&rig)
  return rig
}

@Suite struct AgePolicyTests {
  @Test(
    "D3: gates 13 and 16 at 14, 9 and 42 years",
    arguments: [(14, 13, 15), (9, nil, 12), (42, 16, nil)] as [(Int32, Int32?, Int32?)])
  func workedExample(_ age: Int32, _ lower: Int32?, _ upper: Int32?) throws {
    var rig = rig(age)
    #expect(try rig.bounds(13, 16) == [lower, upper])
  }

  @Test("D3: changes the range on the birthday at a gate, not the day before") func edges() throws {
    var sixteen = AgeFixture(born: day(2010, 11, 21), today: today)
    #expect(try sixteen.bounds(13, 16) == [16, nil])
    var fifteen = AgeFixture(born: day(2010, 11, 22), today: today)
    #expect(try fifteen.bounds(13, 16) == [13, 15])
  }

  @Test("D2: no answer reveals an age above majority, in any region") func majority() throws {
    var us = rig(42)
    #expect(try us.bounds(21) == [18, nil])
    var korea = rig(18) { $0.policy.account.region = "KR" }
    #expect(try korea.bounds(16, 25) == [16, 18])
    var scotland = rig(16) { $0.policy.account.region = "GB-SCT" }
    #expect(try scotland.bounds(13, 18) == [13, 17])
    #expect(try scotland.ask(13, 18)?.declaration == .guardianDeclared)
  }

  @Test("D2: hides a gate above majority that another region revealed") func moved()
    throws
  {
    var rig = rig(18) { $0.policy.account.region = "US-MS" }
    #expect(try rig.bounds(21) == [nil, 20])
    rig.policy.account.region = "US"
    #expect(try rig.bounds(21) == [18, nil])
  }

  @Test("D4: the range contains the declaration") func declaration() throws {
    var (emily, olivia, ann) = (rig(9), rig(14), rig(42))
    #expect(try emily.ask(13, 16)?.declaration == .guardianDeclared)
    #expect(try olivia.ask(13, 16)?.declaration == .guardianDeclared)
    #expect(try ann.ask(13, 16)?.declaration == .selfDeclared)
    var alone = rig(14) { $0.policy.isInFamily = false }
    #expect(try alone.ask(13, 16)?.declaration == .selfDeclared)
    var checked = rig(42) { $0.policy.account.declaration = .governmentIDChecked }
    #expect(try checked.ask(16)?.declaration == .governmentIDChecked)
  }

  @Test("D4: omits the declaration for everyone if it would reveal the age")
  func declarationSaysNoAge() throws {
    // At least 17 and declared by a guardian means exactly 17.
    for age: Int32 in [17, 18, 42] {
      var rig = rig(age)
      let range = try rig.ask(17)
      #expect(range?.lower == 17 && range?.declaration == nil)
    }
    var younger = rig(16)
    #expect(try younger.ask(17)?.declaration == .guardianDeclared)
    // Without a family, below 14 and self-declared means exactly 13.
    for age: Int32 in [9, 13] {
      var rig = rig(age) { $0.policy.isInFamily = false }
      #expect(try rig.ask(14)?.declaration == nil)
    }
  }

  @Test("D5: reports the current controls if the range ends below majority")
  func controls() throws {
    var child = rig(14)
    #expect(try child.ask(13, 16)?.controls == .communicationLimits)
    child.policy.limitsOn = false
    #expect(try child.ask(13, 16)?.controls == [])
    var older = rig(16)
    #expect(try older.ask(13, 16)?.controls == [])
    var texan = rig(14) { $0.policy.account.region = "US-TX" }
    #expect(
      try texan.ask(13, 16)?.controls
        == [.communicationLimits, .significantAppChangeApprovalRequired])
  }

  @Test("D6: with always, shares without a prompt and reports a new range once") func always()
    throws
  {
    var rig = rig(14)
    #expect(try rig.ask(13, 16) != nil)
    #expect(try rig.ask(13, 16) != nil)
    #expect(rig.prompts == 0 && rig.notices == 1)
    #expect(try rig.ask(18) != nil)
    #expect(rig.notices == 2)
  }

  @Test("D6: with never, declines without a prompt, also after an earlier answer")
  func never() throws {
    var rig = rig(14)
    #expect(try rig.ask(13, 16) != nil)
    rig.policy.settings.sharing = .never
    #expect(try rig.ask(13, 16) == nil)
    #expect(rig.prompts == 0 && rig.notices == 1)
    rig.policy.settings.sharing = .always
    #expect(try rig.bounds(13, 16) == [13, 15])
    #expect(rig.notices == 1)
  }

  @Test("D6: the app's setting overrides the person's, and changes take effect at once")
  func perApp() throws {
    var rig = rig(14)
    rig.policy.settings.apps[AgeFixture.app] = .askFirst
    rig.shares = false
    #expect(try rig.ask(13, 16) == nil)
    #expect(rig.prompts == 1)
    rig.policy.settings.apps[AgeFixture.app] = .always
    #expect(try rig.ask(13, 16) != nil)
    rig.policy.settings.apps[AgeFixture.app] = .never
    #expect(try rig.ask(13, 16) == nil)
    rig.policy.settings.apps = [AppID("example.other"): .never]
    #expect(try rig.ask(13, 16) != nil)
  }

  @Test("D8: with ask first, prompts once, whether the person shares or declines") func askFirst()
    throws
  {
    for shares in [true, false] {
      var rig = rig(14) { $0.policy.settings.sharing = .askFirst }
      rig.shares = shares
      for _ in 0..<5 { #expect(try (rig.ask(13, 16) != nil) == shares) }
      #expect(rig.prompts == 1)
    }
  }

  @Test("D8: a birthday changes no answer until the anniversary of the answer") func birthday()
    throws
  {
    // The person turns 16 on 17 May.
    var rig = AgeFixture(born: day(2011, 5, 17), today: today)
    #expect(try rig.bounds(13, 16) == [13, 15])
    for later in [day(2027, 5, 16), day(2027, 5, 17), day(2027, 11, 20)] {
      rig.policy.today = later
      #expect(try rig.bounds(13, 16) == [13, 15])
      // Other gates reveal no more than on the day of the answer.
      #expect(try rig.bounds(16) == [nil, 15])
    }
    rig.policy.today = day(2027, 11, 21)
    #expect(try rig.bounds(13, 16) == [16, nil])
    #expect(rig.notices == 3)
  }

  @Test("D8: with ask first, prompts again at the anniversary") func anniversary() throws {
    var rig = rig(14) { $0.policy.settings.sharing = .askFirst }
    _ = try rig.ask(13, 16)
    rig.policy.today = day(2027, 11, 20)
    _ = try rig.ask(13, 16)
    #expect(rig.prompts == 1)
    rig.policy.today = day(2027, 11, 21)
    _ = try rig.ask(13, 16)
    #expect(rig.prompts == 2)
    rig.shares = false
    rig.policy.today = day(2029, 1, 1)
    #expect(try rig.ask(13, 16) == nil)
    rig.policy.today = day(2029, 12, 31)
    #expect(try rig.ask(13, 16) == nil)
    #expect(rig.prompts == 3)
    rig.policy.today = day(2030, 1, 1)
    _ = try rig.ask(13, 16)
    #expect(rig.prompts == 4)
  }

  @Test("D8: a year later, uses the age on the first answer's day, whenever the app asks")
  func anchor() throws {
    // The person turns 16 on 1 January. The app asks on 21 November, and then on 2 January a year
    // later.
    var rig = AgeFixture(born: day(2012, 1, 1), today: day(2026, 11, 21))
    #expect(try rig.bounds(13, 16) == [13, 15])
    rig.policy.today = day(2028, 1, 2)
    #expect(rig.age == 16)
    #expect(try rig.bounds(13, 16) == [13, 15])
    rig.policy.today = day(2028, 11, 21)
    #expect(try rig.bounds(13, 16) == [16, nil])
  }

  @Test("D8: the anniversary of 29 February is 1 March and reveals no birthday")
  func leapAnchor() throws {
    // Both are 13 on the day of the answer. One has the birthday on the anniversary itself.
    var first = AgeFixture(born: day(2010, 3, 1), today: day(2024, 2, 29))
    var second = AgeFixture(born: day(2010, 9, 9), today: day(2024, 2, 29))
    for today in [day(2024, 2, 29), day(2025, 2, 28), day(2025, 3, 1), day(2026, 3, 1)] {
      first.policy.today = today
      second.policy.today = today
      #expect(try first.ask(13, 15) == second.ask(13, 15))
    }
  }

  @Test("D8: other gates never narrow the app's knowledge to one year") func coarsened() throws {
    for age: Int32 in [13, 14, 15] {
      var rig = rig(age)
      #expect(try rig.bounds(13, 16) == [13, 15])
      // Gate 14 would isolate age 13, so it is omitted for every age.
      #expect(try rig.bounds(14) == [13, 15])
      #expect(try rig.bounds(15) == [13, 15])
      #expect(try rig.bounds(14, 18) == [nil, 17])
      #expect(try rig.bounds(10) == [10, nil])
    }
  }

  @Test("D8: keeps the answer after the clock was set back") func clockBack() throws {
    var rig = AgeFixture(born: day(2011, 5, 17), today: day(2027, 11, 21), sharing: .askFirst)
    #expect(try rig.bounds(13, 16) == [16, nil])
    for earlier in [day(2027, 11, 20), day(2026, 1, 1), day(1970, 1, 1)] {
      rig.policy.today = earlier
      #expect(try rig.bounds(13, 16) == [16, nil])
      #expect(try rig.bounds(18) == [nil, 17])
    }
    #expect(rig.prompts == 2)
  }

  @Test("D8: refuses an app that asks with too many sets of gates") func full() throws {
    var rig = rig(42)
    var refused: Problem?
    for first: Int32 in 1...6 {
      for second: Int32 in 8...17 where refused == nil {
        do { _ = try rig.ask(first, second) } catch { refused = error as? Problem }
      }
    }
    #expect(refused == .tooMany)
    #expect(rig.state.memory(AgeFixture.app).answers.count == Limits.ageAnswers)
    // Earlier answers stay valid.
    #expect(try rig.bounds(1, 8) == [8, nil])
  }

  @Test("D9: share again gives the current range") func shareAgain() throws {
    var rig = AgeFixture(born: day(2011, 5, 17), today: today)
    #expect(try rig.bounds(13, 16) == [13, 15])
    rig.policy.today = day(2027, 6, 1)
    #expect(try rig.bounds(13, 16) == [13, 15])
    rig.state.record(.ageMemory(AgeFixture.app, nil))
    #expect(try rig.bounds(13, 16) == [16, nil])
  }

  @Test("D11: gives no answer without a birthdate") func notAvailable() {
    var rig = rig(14)
    rig.policy.account.birthdate = nil
    #expect(throws: Problem.ageNotAvailable) { try rig.ask(13) }
    #expect(throws: Problem.badAgeGates) { try rig.ask(13, 14) }
  }

  @Test("D12: a person in a regulated region cannot decline") func regulated() throws {
    for sharing in AgeSharing.allCases {
      var rig = rig(14) { $0.policy.account.region = "US-TX" }
      rig.policy.settings.sharing = sharing
      rig.policy.settings.apps[AgeFixture.app] = sharing
      #expect(try rig.bounds(13, 16) == [13, 15])
      #expect(rig.prompts == 0 && rig.notices == 1)
    }
  }

  @Test("D12: while the law requires sharing, the region's gates replace the app's")
  func lawGates() throws {
    var rig = rig(14) { $0.policy.account.region = "US-TX" }
    #expect(try rig.bounds(9) == [13, 15])
    #expect(try rig.bounds(17) == [13, 15])
    #expect(rig.notices == 1)
    var adult = AgeFixture(born: day(1984, 5, 17), today: today, region: "US-TX")
    #expect(try adult.bounds(21) == [18, nil])
    // An older account keeps the app's gates, and may decline.
    var older = AgeFixture(
      born: day(2012, 5, 17), today: today, region: "US-TX", sharing: .never,
      made: day(2026, 6, 3))
    #expect(try older.ask(9) == nil)
    older.policy.settings.sharing = .always
    #expect(try older.bounds(9) == [9, nil])
  }

  @Test("D12: a refusal ends on the day on which the law begins, and returns when it ends")
  func lawBegins() throws {
    var rig = AgeFixture(
      born: day(2012, 5, 17), today: day(2027, 5, 5), region: "US-UT", sharing: .askFirst,
      made: day(2027, 5, 6))
    rig.shares = false
    #expect(try rig.ask(13, 16) == nil)
    rig.policy.today = day(2027, 5, 6)
    #expect(try rig.bounds(13, 16) == [13, 15])
    #expect(rig.prompts == 1 && rig.notices == 1)
    // The guardian moves the person out of the region.
    rig.policy.account.region = "US"
    rig.policy.today = day(2027, 5, 7)
    #expect(try rig.ask(13, 16) == nil)
    #expect(rig.prompts == 1)
  }

  @Test("D5, D12: an act that protects below 18 does not reach a minor of 18") func minorBelow()
    throws
  {
    // Majority is 19 in Alabama, and the act protects below 18.
    var rig = AgeFixture(
      born: day(2009, 1, 1), today: day(2027, 1, 1), region: "US-AL", made: day(2027, 1, 1))
    #expect(try rig.ask(18)?.controls == [])
    rig.policy.account.birthdate = day(2010, 1, 2)
    rig.state = AgeState()
    #expect(
      try rig.ask(18)?.controls == [.communicationLimits, .significantAppChangeApprovalRequired])
  }

  @Test("F5: a corrected birthdate deletes the answers that it makes false, and no others")
  func corrected() throws {
    var rig = rig(14)
    #expect(try rig.bounds(13, 16) == [13, 15])
    rig.policy.account.birthdate = day(2012, 5, 18)
    rig.state.corrected(day(2012, 5, 18))
    #expect(rig.state.apps == [AgeFixture.app])
    rig.policy.account.birthdate = day(2016, 5, 17)
    rig.state.corrected(day(2016, 5, 17))
    #expect(rig.state.apps == [])
    #expect(try rig.bounds(13, 16) == [nil, 12])
  }
}
