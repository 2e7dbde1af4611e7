@testable import FamilyCore
import FamilyModel
import Testing
import Wording

@testable import TerminalUI

/// The apps of a child on a guardian's screen.
@Suite struct AppListTests {
  private func app(_ rating: AgeRating?, _ identifier: String, device: UInt32 = 3) -> ChildApp {
    ChildApp(
      device: DeviceID(device), listed: ListedApp(app: AppID(identifier), rating: rating),
      since: renderer().now, ratedSince: renderer().now)
  }

  @Test("D13: lists each app with its rating and device, and marks those above the ceiling")
  func list() {
    let named = Renderer(
      Wording(.english), columns: 79, now: renderer().now, timeZone: renderer().timeZone,
      appNames: [AppID("my.chat"): "Chat (my.chat)"])
    let apps = [app(.thirteen, "my.chat"), app(nil, "other", device: 4)]
    let time = named.time(named.now)
    #expect(
      named.apps(apps, of: "Mia", ceiling: .nine).texts.dropFirst() == [
        "• Chat (my.chat) · 13+", "  Above the ceiling: the app is refused everything.",
        "  Device 3, since \(time)", "• other · not rated, counts as 18+",
        "  Above the ceiling: the app is refused everything.", "  Device 4, since \(time)",
      ])
    let allowed = named.apps(apps, of: "Mia", ceiling: nil).whole
    #expect(allowed.contains("Mia’s apps") && !allowed.contains("Above"))
    #expect(
      named.apps([], of: "Mia", ceiling: nil).whole
        == "No app on Mia’s devices has been reported yet.")
  }

  @Test("D13: an app's name is sanitized and short, and its identifier follows") func names() {
    let wording = Wording(.english)
    #expect(wording.app("my.chat", named: "Chat") == "Chat (my.chat)")
    for name in [nil, "", " ", "\u{200B}"] {
      #expect(wording.app("my.chat", named: name) == "my.chat")
    }
    #expect(wording.app("my.chat", named: "A\nB\u{202E}") == "A\u{FFFD}B\u{FFFD} (my.chat)")
    let long = wording.app("my.chat", named: String(repeating: "x", count: 256))
    #expect(long == String(repeating: "x", count: 39) + "… (my.chat)")
  }

  @Test("D13: both sides have the command, and the notice names each app")
  func commands() {
    #expect(TerminalCommand("apps", isGuardian: true) == .apps)
    #expect(TerminalCommand("apps", isGuardian: false) == .apps)
    #expect(TerminalCommand("apps now", isGuardian: true) == nil)
    let risen = [RisenRating(app: AppID("my.chat"), rating: .thirteen)]
    let text = renderer().wording(.ratingsRaised, "Mia", renderer().list(risen))
    #expect(text == "Mia’s apps with a higher age rating: my.chat 13+.")
  }
}
