import FamilyModel
import Testing

@Suite struct BirthdateTests {
  /// 2026-11-22, 09:59 UTC: the 22nd everywhere, and one minute later the 23rd in the first zone.
  private let now = Instant(milliseconds: 1_795_341_540_000)

  private func problem(_ text: String, at now: Instant) -> Problem? {
    do throws(Problem) {
      try Account(
        birthdate: Account.Day(iso: text), region: "US", declaration: .guardianDeclared
      ).validate(now: now)
      return nil
    } catch { return error }
  }

  @Test("F5: a birthdate is a day since 1900 that is not in the future anywhere")
  func future() {
    #expect(Account.Day(utc: now) == Account.Day(iso: "2026-11-22"))
    #expect(problem("2026-11-22", at: now) == nil && problem("1900-01-01", at: now) == nil)
    #expect(problem("2026-11-23", at: now) == .badBirthdate)
    #expect(problem("2026-11-23", at: now + .minutes(1)) == nil)
    #expect(problem("2035-01-01", at: now) == .badBirthdate)
    for day in [
      Account.Day(year: 1899, month: 12, day: 31), Account.Day(year: 2015, month: 2, day: 29),
      Account.Day(year: 2015, month: 13, day: 1), Account.Day(year: 2015, month: 4, day: 0),
    ] {
      #expect(throws: Problem.badBirthdate) { try day.validate(asBirthdateAt: now) }
    }
    #expect(problem("no day", at: now) == nil, "an account without a birthdate is valid")
  }

  @Test(
    "F5: parses a day in ISO 8601 and nothing else",
    arguments: [
      "2015-02-29", "14-05-17", "2014-13-01", "2014-05", "17-05-2014", "tomorrow", "", "+201-05-17",
      "2014-05-17x", "2014-05-1७",
    ])
  func parse(_ text: String) {
    #expect(Account.Day(iso: text) == nil)
    #expect(Account.Day(iso: "2016-02-29")?.iso == "2016-02-29")
  }

  @Test("F2: a region is a country, or a country with a subdivision")
  func region() {
    for text in ["FR", "US-TX", "GB-SCT", "ES-4"] { #expect(Account.isRegion(text)) }
    for text in ["", "fr", "France", "US-", "US-TXTX", "US-tx", "US-TX-1", "U"] {
      #expect(!Account.isRegion(text), "\(text)")
    }
  }
}
