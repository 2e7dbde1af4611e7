import FamilyModel
import Testing
import Wording

@testable import TerminalUI

struct WebReportTests {
  @Test("S5: a guardian reads the days with their sites, the longest first")
  func list() {
    let day = WebDay(
      Account.Day(year: 2026, month: 5, day: 7), seconds: 3_725,
      sites: [Site("a.example")!: 59, Site("b.example")!: 3_666], isShortened: true)
    #expect(
      renderer().web([day], of: "Mia").texts.dropFirst() == [
        "• 2026-05-07 · 1 h 2 min", "  b.example · 1 h 1 min", "  a.example · 59 s",
        "  An app has deleted a part of this day.",
      ])
    #expect(
      renderer().web([], of: "Mia").whole
        == "No use of the web on Mia’s devices has been reported.")
    #expect(TerminalCommand("web", isGuardian: true) == .web)
    #expect(TerminalCommand("web", isGuardian: false) == .web)
  }
}
