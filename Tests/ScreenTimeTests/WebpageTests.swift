import Foundation
import PermissionKitTesting
import ScreenTime
import Testing

private struct Browser: PresentationAnchor { let windowName = "Pages" }

private func page(_ url: String) -> STWebpageController {
  let page = STWebpageController()
  page.url = URL(string: url)
  return page
}

/// Waits until the page is blocked or open.
private func wait(until isBlocked: Bool, _ page: STWebpageController) async {
  for await value in await page.urlIsBlockedUpdates where value == isBlocked { return }
}

@Suite(.timeLimit(.minutes(10))) struct WebpageTests {
  private let family = TestFamily()

  @Test("S5: a guardian's rules block and open pages by their site")
  func rules() async throws {
    await family.organizer.setWebRules(.allow, sites: ["www.example.co.uk": .block])
    try await family.app {
      let blocked = page("https://mail.example.co.uk/path?q")
      #expect(blocked.urlIsBlocked)
      #expect(await blocked.isBlocked())
      #expect(!blocked.canAsk)
      let open = page("HTTP://OTHER.example:8080/")
      #expect(await !open.isBlocked())
      #expect(!open.urlIsBlocked)
      await family.organizer.setWebRules(.block)
      await wait(until: true, open)
      await family.organizer.setWebRules(.allow)
      await wait(until: false, blocked)
      #expect(!open.urlIsBlocked)
    }
  }

  @Test("S5: spellings of a host do not evade its rule; a look-alike is another site")
  func spellings() async throws {
    await family.organizer.setWebRules(
      .allow,
      sites: ["b\u{fc}cher.example": .block, "[2001:db8::1]": .block, "192.168.0.7": .block])
    try await family.app {
      for url in [
        "https://xn--bcher-kva.example/", "https://www.B%C3%9CCHER.example./",
        "https://user@b%75%CC%88cher.example:8443/", "http://[2001:DB8::1]/", "http://192.168.0.7/",
        "http://0xC0.0250.7/", "http://3232235527/", "http://[::ffff:192.168.0.7]/",
        "wss://xn--bcher-kva.example/",
      ] {
        #expect(await page(url).isBlocked(), "\(url)")
      }
      #expect(await !page("https://bucher.example/").isBlocked())
    }
  }

  @Test("S5: pages without a site of the web are open, and a host that no rule can name is blocked")
  func local() async throws {
    try await family.app {
      for url in ["about:blank", "file:///etc/hosts", "file://localhost/etc/hosts", "data:,x"] {
        #expect(!page(url).urlIsBlocked, "\(url)")
        #expect(await !page(url).isBlocked(), "\(url)")
      }
      #expect(!STWebpageController().urlIsBlocked)
      for url in ["http:///path", "https:x", "https://a..b/"] {
        #expect(await page(url).isBlocked(), "\(url)")
        #expect(page(url).urlIsBlocked)
      }
    }
  }

  @Test("S5, X1: a child asks for a page, a guardian opens it and closes it again")
  func asks() async throws {
    await family.organizer.setWebRules(.ask)
    try await family.app {
      let page = page("https://news.example/")
      #expect(await page.isBlocked())
      #expect(page.canAsk)
      let isAsked = try await page.ask(in: Browser())
      #expect(isAsked)
      #expect(family.child.promptWindows.contains("Pages"))
      #expect(page.urlIsBlocked)
      await family.organizer.answer(.approve)
      await wait(until: false, page)
      #expect(await !ScreenTimeTests.page("https://www.news.example/other").isBlocked())
      await family.organizer.withdraw(site: "news.example")
      await wait(until: true, page)
      #expect(page.canAsk)
    }
    #expect(family.unhandled == 0)
  }

  @Test("S5: a declined page stays blocked, and a cancelled prompt asks nobody")
  func declined() async throws {
    await family.organizer.setWebRules(.ask)
    family.organizer.will(.decline)
    try await family.app {
      let page = page("https://news.example/")
      let isSent = try await page.ask(in: Browser())
      #expect(isSent)
      await family.settle()
      #expect(await page.isBlocked())
      family.child.will(.cancel)
      let isAsked = try await page.ask(in: Browser())
      #expect(!isAsked)
    }
  }

  @Test("S5: no child asks where a rule allows or blocks, nor without a page")
  func refused() async throws {
    await family.organizer.setWebRules(.block)
    try await family.app {
      for page in [page("https://news.example/"), page("about:blank"), STWebpageController()] {
        let error = await #expect(throws: DeviceProblem.self) {
          try await page.ask(in: Browser())
        }
        #expect(error?.number == 450)
      }
    }
  }

  @Test("S5, Q12: an approval for an hour ends in the app, also offline and with a clock set back")
  func hour() async throws {
    family.organizer.will(.approve)
    await family.organizer.setWebRules(.ask)
    try await family.app {
      let page = page("https://news.example/")
      let isAsked = try await page.ask(for: .seconds(3_600), in: Browser())
      #expect(isAsked)
      await wait(until: false, page)
      await family.child.setOnline(false)
      await family.advance(by: .seconds(3_000))
      #expect(!page.urlIsBlocked)
      await family.advance(by: .seconds(1_000))
      await wait(until: true, page)
      #expect(page.canAsk)
    }
  }

  @Test("S5, X2: a killed app has the answers at once, and a killed device keeps them")
  func kills() async throws {
    await family.organizer.setWebRules(.allow, sites: ["bad.example": .block])
    try await family.app {
      #expect(await !page("https://good.example/").isBlocked())
      family.crashApp()
    }
    await family.restartDevice()
    try await family.app {
      // Nothing ran in between: the answer is the cache's.
      #expect(!page("https://www.good.example/").urlIsBlocked)
      #expect(await page("https://bad.example/").isBlocked())
      let page = page("https://good.example/")
      await family.restartDevice()
      await family.organizer.setWebRules(.block)
      await wait(until: true, page)
    }
  }

  @Test("S5, R9: while the consent to the app is withdrawn, every page is blocked")
  func consent() async throws {
    try await family.app {
      let page = page("https://news.example/")
      #expect(await !page.isBlocked())
      await family.organizer.withdrawConsent()
      await wait(until: true, page)
      #expect(page.hasAnswer && !page.canAsk)
      await family.organizer.giveConsent()
      await wait(until: false, page)
    }
  }

  @Test("S5: without a device every page is blocked, and nobody is asked")
  func noDevice() async throws {
    let page = page("https://news.example/")
    #expect(page.urlIsBlocked && !page.hasAnswer && !page.canAsk)
    #expect(await page.isBlocked())
    var values: [Bool] = []
    for await value in await page.urlIsBlockedUpdates { values.append(value) }
    #expect(values == [true])
    await #expect(throws: DeviceProblem.self) { try await page.ask(in: Browser()) }
  }

  @Test("S5: an adult, and a person without a family, open every page", arguments: [true, false])
  func others(isInFamily: Bool) async throws {
    let family = TestFamily(isInFamily: isInFamily, isChild: false)
    try await family.app {
      #expect(await !page("https://news.example/").isBlocked())
    }
  }
}
