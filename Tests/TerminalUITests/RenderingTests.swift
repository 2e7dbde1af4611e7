import ContentCheck
import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

@Suite struct RenderingTests {
  /// Everything that a conversation can hold.
  private func story(_ name: String = "Ada Lovelace") -> ConversationBuilder {
    var story = ConversationBuilder()
    let choices = [
      Choice(id: "always", title: "Always, and without asking again", answer: .approval),
      Choice(id: "once", title: "For today only", answer: .approval), .decline,
    ]
    let picture = Avatar(mediaType: "image/png", bytes: Array(repeating: 0, count: 3_000))
    let first = ConversationBuilder.question(
      1, ["ada", "+1 555 010 0199"], name: name, avatar: picture)
    story.ask(first)
    story.happen(3, .conversation(PersonID(3)), .reminded(first.id))
    story.decide(2, first, .approve)
    story.ask(
      ConversationBuilder.question(
        2, ["someone.with.a.very.long.address@example.com"], choices: choices))
    let gone = ConversationBuilder.question(3)
    story.ask(gone)
    story.happen(3, .conversation(PersonID(3)), .cancelled(gone.id))
    story.ask(
      ConversationBuilder.question(4, ["late"], expiration: ConversationBuilder.start + 30 * 60_000)
    )
    story.post(3, "Can we go to the lighthouse? 灯台に行きたいです。とてもきれいだと聞きました。")
    story.post(1, "Yes! \(String(repeating: "Wow", count: 40))")
    let here = ConversationBuilder.question(5, ["maria"], name: "マリア")
    story.happen(
      3, .conversation(PersonID(3)),
      .answeredInPerson(
        ConversationBuilder.header(here), .question(here),
        Decision(question: here.id, choice: ChoiceHeader(id: "approve", answer: .approval)),
        proof: []))
    story.happen(
      1, .conversation(PersonID(3)),
      .withdrawn(
        child: PersonID(3),
        .withdrawal(.handle(Handle("ada", .custom), in: ConversationBuilder.app))))
    let update = Question(
      id: QuestionID(high: 1, low: 6), topic: .significantUpdate(description: "Now with chats."))
    story.ask(update, child: 4)
    return story
  }

  @Test(
    "M1, M2: no line is wider than the terminal, in any language",
    arguments: [79, 80, 50, 49, 40, 39, 20], Language.allCases)
  func widths(_ columns: Int, _ language: Language) {
    let renderer = renderer(columns, language)
    for person: UInt32 in 1...4 {
      let story = story()
      let timeline = story.timeline(person, renderer)
      var rows = story.screen(person, renderer)
      #expect(rows.count > 5)
      for child in timeline.children {
        rows += renderer.overview(timeline, of: child, numbers: [:])
      }
      rows += renderer.help(TerminalCommand.help(isGuardian: person < 3))
      for row in rows { #expect(row.cells <= columns, "\(row.text)") }
    }
  }

  @Test("M1: own messages stand at the right, others' at the left, with who and when")
  func sides() {
    var story = ConversationBuilder()
    story.post(3, "Hello")
    story.post(1, "Hi")
    #expect(
      story.screen(3, renderer(30)).texts.map { $0.replacing("\u{202F}", with: " ") } == [
        "             Emily · 8:28 PM".padding(to: 28).leading(2), "                     ╭───────╮",
        "                     │ Hello │", "                     ╰───────╯",
        "                          Sent", " Rosa · 8:29 PM", "╭────╮", "│ Hi │", "╰────╯",
      ])
  }

  @Test(
    "M2, M6, R1, S2: a bubble shows who asks, the app, each person, and of a picture a warning first",
    arguments: [nil, .sensitive, .unknown, .clean] as [ContentVerdict?])
  func bubble(_ verdict: ContentVerdict?) {
    let picture = Avatar(mediaType: "image/png", bytes: Array(repeating: 0, count: 3_000))
    var story = ConversationBuilder()
    story.ask(ConversationBuilder.question(1, name: "Ada", avatar: picture))
    var pictures = Pictures()
    if let verdict { pictures.record(verdict, for: picture) }
    let text = story.screen(1, renderer(pictures: pictures)).whole
    #expect(text.contains("#1 · Emily"))
    #expect(text.contains("Emily would like to send messages to Ada in example.landmarks."))
    let line =
      verdict == .clean
      ? "Picture: image/png, 3 KB" : "This picture is hidden because it may be sensitive."
    #expect(text.contains("• Ada (dragonslayer42) \(line)"))
    #expect(text.contains("[d1] Decline [r1] Review [p1] Show Picture"))
    #expect(!story.screen(3, renderer()).whole.contains("[d1]"))
  }

  @Test("R3, R8: a bubble says who answered what, that it expired, or that it is cancelled")
  func outcomes() {
    let text = story().screen(3, renderer()).whole
    #expect(text.contains("Alex chose “Approve”."))
    #expect(text.contains("Emily cancelled the request."))
    #expect(text.contains("This request has expired."))
    #expect(text.contains("Decided in person on Emily’s device: “Approve”."))
    #expect(text.contains("Rosa withdrew permission for ada."))
  }

  @Test("A6: a reminder has its line") func reminder() {
    #expect(story().screen(1, renderer()).whole.contains("#1 · Emily sent a reminder."))
  }

  @Test("M1: a guardian sees the conversations of several children apart")
  func children() {
    let rows = story().screen(1, renderer()).texts
    #expect(rows.contains { $0.hasPrefix("── Emily ──") })
    #expect(rows.contains { $0.hasPrefix("── Noah ──") })
    #expect(!story().screen(4, renderer()).whole.contains("Emily"))
  }
}

extension String {
  fileprivate func padding(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
  fileprivate func leading(_ count: Int) -> String { String(repeating: " ", count: count) + self }
}
