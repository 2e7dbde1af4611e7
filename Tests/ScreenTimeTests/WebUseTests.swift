import FamilyModel
import Foundation
import PermissionKitTesting
import ScreenTime
import Testing

private func site(_ name: String) -> Site { Site(name)! }

@Suite(.timeLimit(.minutes(10))) struct WebUseTests {
  private let family = TestFamily()

  /// Shows a page for some seconds in the running app.
  private func show(
    _ url: String, seconds: Int, _ change: (STWebpageController) -> Void = { _ in }
  ) async {
    let page = STWebpageController()
    page.url = URL(string: url)
    _ = await page.isBlocked()
    change(page)
    await family.advance(by: .seconds(seconds))
    page.url = nil
    await family.settle()
  }

  /// Passes the time until a report is due.
  private func report() async { await family.advance(by: .seconds(901)) }

  private var today: WebDay? { family.organizer.webReport.last }

  @Test("S5: guardians read the time of each day and site, and nothing where they chose nothing")
  func detail() async throws {
    await family.organizer.setWebRules(.block, sites: ["news.example": .allow])
    try await family.app { await show("https://news.example/private/page?q", seconds: 90) }
    await report()
    #expect(family.organizer.webReport.isEmpty)

    let sites = ["news.example": WebAccess.allow, "games.example": .allow]
    await family.organizer.setWebRules(.block, sites: sites, report: .sites)
    try await family.app {
      await show("https://www.news.example/private/page?q", seconds: 90)
      await show("https://games.example/", seconds: 30)
      await show("https://blocked.example/", seconds: 600)
    }
    await report()
    #expect(today?.seconds == 120)
    #expect(today?.sites == [site("news.example"): 90, site("games.example"): 30])
    #expect(today?.isShortened == false)

    await family.organizer.setWebRules(.block, sites: sites, report: .days)
    await report()
    #expect(today?.seconds == 120)
    #expect(today?.sites == [:])
  }

  @Test("S5: switched off, the device counts nothing and forgets what it has counted")
  func off() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app { await show("https://news.example/", seconds: 90) }
    await family.organizer.setWebRules(.block, sites: ["news.example": .allow])
    try await family.app { await show("https://news.example/", seconds: 50) }
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app { await show("https://news.example/", seconds: 7) }
    await report()
    #expect(today?.seconds == 7)
  }

  @Test(
    "S5: hidden pages and private browsing do not count, and a video in a window of its own does")
  func visibility() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app {
      await show("https://a.example/", seconds: 10) { $0.isShown = false }
      await show("https://b.example/", seconds: 10) { $0.suppressUsageRecording = true }
      await show("https://c.example/", seconds: 10) {
        $0.isShown = false
        $0.urlIsPictureInPicture = true
      }
      // Two windows at once are one time.
      let other = STWebpageController()
      other.url = URL(string: "https://d.example/")
      _ = await other.isBlocked()
      await show("https://e.example/", seconds: 20)
      other.url = nil
      await family.settle()
    }
    await report()
    #expect(today?.seconds == 30)
    #expect(today?.sites == [site("c.example"): 10, site("d.example"): 20, site("e.example"): 20])
  }

  @Test("S5, X2: time counts once although app, device and guardian are killed")
  func kills() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app {
      await show("https://news.example/", seconds: 40)
      await family.restartDevice()
      await show("https://news.example/", seconds: 20)
      family.crashApp()
    }
    await family.restartDevice()
    try await family.app { await show("https://news.example/", seconds: 5) }
    await report()
    #expect(today?.sites == [site("news.example"): 65])
    await family.restartDevice()
    await report()
    #expect(today?.sites == [site("news.example"): 65])
    #expect(family.organizer.webReport.count == 1)
  }

  @Test("S5: a device that is off line reports later, each day for its own")
  func offline() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app {
      await show("https://news.example/", seconds: 10)
      await family.child.setOnline(false)
      for _ in 0..<5 {
        await family.advance(by: .seconds(86_400))
        await show("https://news.example/", seconds: 10)
      }
    }
    await family.child.setOnline(true)
    for _ in 0..<4 { await report() }
    #expect(family.organizer.webReport.map(\.seconds) == Array(repeating: 10, count: 6))
    #expect(Set(family.organizer.webReport.map(\.day)).count == 6)
  }

  @Test("S5: a guardian's deletion reaches the child's device, and later time counts again")
  func guardianDeletes() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app {
      await show("https://news.example/", seconds: 40)
      await show("https://games.example/", seconds: 20)
    }
    await report()
    await family.organizer.deleteWebReport(of: "games.example")
    #expect(today?.sites == [site("news.example"): 40])
    try await family.app { await show("https://games.example/", seconds: 3) }
    await report()
    #expect(today?.sites == [site("news.example"): 40, site("games.example"): 3])
    await family.organizer.deleteWebReport()
    #expect(family.organizer.webReport.isEmpty)
    await report()
    await family.restartDevice()
    await report()
    #expect(family.organizer.webReport.isEmpty)
  }

  @Test("S5: a report that crosses a deletion on its way does not bring the time back")
  func crossing() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    await family.child.setOnline(false)
    try await family.app { await show("https://news.example/", seconds: 40) }
    await report()
    await family.organizer.deleteWebReport()
    await family.child.setOnline(true)
    await family.settle()
    #expect(family.organizer.webReport.isEmpty)
    for _ in 0..<2 { await report() }
    #expect(family.organizer.webReport.isEmpty)
    try await family.app { await show("https://news.example/", seconds: 2) }
    await report()
    #expect(today?.seconds == 2)
  }

  @Test("S5: an app deletes its own history, also while the device is away, and guardians see that")
  func appDeletes() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app {
      await show("https://news.example/", seconds: 40)
      await show("https://games.example/", seconds: 20)
      STWebHistory().deleteHistory(for: URL(string: "https://www.games.example/page")!)
      await family.settle()
    }
    await report()
    #expect(today?.sites == [site("news.example"): 40])
    #expect(today?.seconds == 40)
    #expect(today?.isShortened == true)
    try await family.app {
      let end = family.now - 86_400
      STWebHistory().deleteHistory(during: DateInterval(start: end - 5 * 86_400, end: end))
      await family.settle()
    }
    await report()
    #expect(today?.seconds == 40)
    try await family.app {
      STWebHistory().deleteAllHistory()
      await family.settle()
    }
    await report()
    #expect(today?.seconds == 0)
    #expect(today?.isShortened == true)
  }

  @Test("S5, X2: an app may delete since any moment, and starts again before the device knows")
  func anyMoment() async throws {
    await family.organizer.setWebRules(.allow, report: .sites)
    try await family.app { await show("https://news.example/", seconds: 40) }
    try await family.app {
      STWebHistory().deleteHistory(during: DateInterval(start: .distantPast, end: .distantFuture))
      family.crashApp()
    }
    try await family.app { await show("https://games.example/", seconds: 3) }
    await report()
    #expect(today?.sites[site("news.example")] == nil || today?.seconds == 43)
    try await family.app {
      STWebHistory().deleteHistory(during: DateInterval(start: .distantPast, end: .distantFuture))
      await family.settle()
      await show("https://games.example/", seconds: 3)
    }
    await report()
    #expect(today?.sites == [site("games.example"): 3])
  }

  @Test("S5: an adult's use, and use without a family, is not counted", arguments: [true, false])
  func others(isInFamily: Bool) async throws {
    let family = TestFamily(isInFamily: isInFamily, isChild: false)
    try await family.app {
      let page = STWebpageController()
      page.url = URL(string: "https://news.example/")
      _ = await page.isBlocked()
      await family.advance(by: .seconds(60))
      page.url = nil
      await family.settle()
    }
    await family.advance(by: .seconds(1_000))
    if isInFamily { #expect(family.organizer.webReport.isEmpty) }
  }
}
