import FamilyModel
import Testing

@testable import FamilyCore

/// The reports of a child's use of the web do not depend on the order of arrival.
struct WebReportsTests {
  private enum Step {
    case report(DeviceID, UInt64, WebUse)
    case deletion(Site?, UInt64)
  }

  private static let news = Site("news.example")!
  private static let games = Site("games.example")!

  private static func day(_ day: UInt8, _ news: UInt32, _ games: UInt32) -> WebDay {
    WebDay(
      Account.Day(year: 2026, month: 5, day: day), seconds: news + games,
      sites: [Self.news: news, Self.games: games])
  }

  private func apply(_ steps: [Step]) -> [WebDay] {
    var reports = WebReports()
    var deletion: UInt64 = 0
    for step in steps {
      switch step {
      case .report(let device, let stamp, var use):
        if use.deletion < deletion { use.days = use.days.map { $0.deleting(nil) } }
        _ = reports.add(use, of: device, stamp: ID128(high: stamp, low: 0))
      case .deletion(let site, let seq):
        deletion = max(deletion, seq)
        _ = reports.delete(site, at: seq)
      }
    }
    return reports.all
  }

  @Test("S5: reports that arrive late change nothing, and a deletion removes what did not know it")
  func order() {
    let steps: [Step] = [
      .report(DeviceID(1), 1, WebUse([Self.day(1, 10, 5)])),
      .report(DeviceID(1), 2, WebUse([Self.day(1, 20, 5), Self.day(2, 1, 0)])),
      .report(DeviceID(2), 1, WebUse([Self.day(1, 7, 0)])),
      .deletion(nil, 40),
      .report(DeviceID(1), 3, WebUse([Self.day(2, 3, 0)], deletion: 40)),
      .report(DeviceID(2), 4, WebUse([Self.day(2, 4, 1)], deletion: 40)),
    ]
    var random = SystemRandomNumberGenerator()
    let expected = [Self.day(2, 7, 1)]
    #expect(apply(steps) == expected)
    for _ in 0..<200 {
      // A device's events arrive in the order of the log, except those that waited for a key.
      #expect(apply(steps.shuffled(using: &random)) == expected)
    }
  }

  @Test("S5: the deletion of a site keeps the time of a site that was shown at the same time")
  func overlapping() {
    var day = Self.day(1, 7_200, 7_200)
    day.seconds = 7_200
    #expect(day.deleting(Self.games).seconds == 7_200)
    #expect(Self.day(1, 10, 5).deleting(Self.games).seconds == 10)
  }

  @Test("S5: the deletion of a site keeps the other sites' time")
  func site() {
    let steps: [Step] = [
      .report(DeviceID(1), 1, WebUse([Self.day(1, 10, 5)])), .deletion(Self.games, 9),
    ]
    var rest = Self.day(1, 10, 0)
    rest.sites[Self.games] = nil
    #expect(apply(steps) == [rest])
  }

  @Test("S5: a device's days are bounded, and the first ones are forgotten")
  func bounded() {
    var reports = WebReports()
    var forgotten = 0
    for number in 0..<100 {
      let day = Account.Day(year: 2026, month: UInt8(number / 28 + 1), day: UInt8(number % 28 + 1))
      let use = WebUse([WebDay(day, seconds: 1)])
      forgotten +=
        reports.add(use, of: DeviceID(1), stamp: ID128(high: UInt64(number), low: 0))
        .forgotten.count
    }
    #expect(reports.all.count == Limits.webUseDays)
    #expect(forgotten == 100 - Limits.webUseDays)
    #expect(reports.all.last?.day == Account.Day(year: 2026, month: 4, day: 16))
  }

  @Test("S5: a day's time and sites are bounded")
  func day() {
    var day = WebDay(Account.Day(year: 2026, month: 5, day: 1))
    for number in 0..<300 {
      day.add(WebDay(day.day, seconds: 1_000, sites: [Site("s\(number).example")!: 1_000]))
    }
    #expect(day.seconds == WebDay.longest)
    #expect(day.sites.count == Limits.webUseSites)
    #expect(day.sites.values.allSatisfy { $0 <= WebDay.longest })
  }
}
