import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

@Suite struct HostileTests {
  private static let bad = "\u{1B}[2J\u{1B}]0;x\u{7}\r\n\t\u{9B}1A\u{202E}\u{2028}evil"

  @Test("M6: no name, handle, title or text moves the cursor", arguments: Language.allCases)
  func controls(_ language: Language) {
    let bad = Self.bad
    var builder = ConversationBuilder(names: [bad, bad, bad, bad])
    let choices = [
      Choice(id: bad, title: bad, answer: .approval), Choice(id: "b", title: bad, answer: .denial),
    ]
    let picture = Avatar(mediaType: bad, bytes: [])
    let question = ConversationBuilder.question(
      1, [bad], name: bad, avatar: picture, choices: choices)
    builder.ask(question)
    builder.decide(1, question, choices[0])
    builder.ask(ConversationBuilder.question(2, [bad], name: bad))
    builder.post(1, bad)
    let renderer = renderer(50, language)
    var rows = builder.screen(3, renderer) + builder.screen(1, renderer)
    let timeline = builder.timeline(1, renderer)
    rows += timeline.children.flatMap { renderer.overview(timeline, of: $0, numbers: [:]) }
    let guardians = timeline.link.roster.guardians
    for prompt: Prompt in [
      .permission(AppID(bad), question), .compose(AppID(bad), question, to: guardians),
      .alreadyAsked(AppID(bad), question, mayRemind: true),
      .passcode(AppID(bad), question, wait: .zero, after: .wrong),
      .acknowledge(AppID(bad), question),
    ] {
      let dialog = prompt.dialog(received: renderer.now)
      rows += dialog.opening(renderer) + [Row(dialog.label(renderer))]
    }
    #expect(rows.whole.contains("evil"))
    for row in rows {
      #expect(row.cells <= 50)
      for scalar in row.rendered(colours: false).unicodeScalars {
        #expect(scalar.properties.generalCategory != .control)
        #expect(!(0x2028...0x202E).contains(scalar.value))
      }
    }
  }

  @Test("M6: limits the combining marks of a character") func piles() {
    let pile = "a" + String(repeating: "\u{301}", count: 500) + "b"
    #expect(pile.displaySafe.unicodeScalars.count < 20)
    #expect(pile.displaySafe.cells == 2)
    #expect("👩‍👩‍👧‍👦é".displaySafe == "👩‍👩‍👧‍👦é")
  }

  @Test(
    "a text's width in columns matches the terminal's",
    arguments: [
      ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4), ("ｱ", 1), ("Ａ", 2), ("👍", 2),
      ("❤️", 2), ("\u{200B}", 0), ("“…”", 3), ("🇫🇷", 2), ("ไทย", 3), ("\u{FFFD}", 1),
    ])
  func cells(_ text: String, _ expected: Int) { #expect(text.cells == expected) }

  @Test("lines break between words and ideographs, and never before closing punctuation")
  func wrap() {
    #expect("the quick brown fox".wrapped(10) == ["the quick", "brown fox"])
    #expect("abcdefghij".wrapped(4) == ["abcd", "efgh", "ij"])
    #expect("日本語です。".wrapped(10) == ["日本語で", "す。"])
    #expect("a\nb".wrapped(10) == ["a", "b"])
    #expect("".wrapped(10) == [""])
    #expect("   x".wrapped(2).joined().contains("x"))
    #expect("ab 日本語 cd".wrapped(5) == ["ab 日", "本語", "cd"])
  }
}
