import FamilyModel
import Foundation
import Testing

func day(_ year: Int32, _ month: UInt8, _ day: UInt8) -> Account.Day {
  Account.Day(year: year, month: month, day: day)
}

@Suite struct DayTests {
  @Test("D8: counts whole years between two days") func years() {
    #expect(day(2012, 5, 17).years(to: day(2026, 5, 16)) == 13)
    #expect(day(2012, 5, 17).years(to: day(2026, 5, 17)) == 14)
    #expect(day(2012, 5, 17).years(to: day(2012, 5, 16)) == -1)
    #expect(day(2012, 12, 31).years(to: day(2013, 1, 1)) == 0)
  }

  @Test("D8: a birthday on 29 February is on 1 March in common years")
  func leapling() {
    let born = day(2012, 2, 29)
    #expect(born.years(to: day(2025, 2, 28)) == 12)
    #expect(born.years(to: day(2025, 3, 1)) == 13)
    #expect(born.years(to: day(2028, 2, 28)) == 15)
    #expect(born.years(to: day(2028, 2, 29)) == 16)
    #expect(day(1896, 2, 29).years(to: day(1900, 3, 1)) == 4)
  }

  @Test("UTC days equal those of Foundation's calendar at 30,000 moments")
  func calendar() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "GMT")!
    var source = IDSource(seed: 29)
    for _ in 0..<30_000 {
      // From 1900 to 2200.
      let moment = Int64(source.next() % 9_467_000_000_000) - 2_208_988_800_000
      let date = Date(timeIntervalSince1970: Double(moment) / 1_000)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let expected = day(Int32(parts.year!), UInt8(parts.month!), UInt8(parts.day!))
      let found = Account.Day(utc: Instant(milliseconds: moment))
      if found != expected { Issue.record("\(moment): \(found), not \(expected)") }
    }
    #expect(Account.Day(utc: Instant(milliseconds: -1)) == day(1969, 12, 31))
    #expect(Account.Day(utc: Instant(milliseconds: 951_782_400_000)) == day(2000, 2, 29))
  }
}
