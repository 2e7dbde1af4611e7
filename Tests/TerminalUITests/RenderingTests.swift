import ContentCheck
import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

@Suite struct RenderingTests {
  /// A conversation with every kind of entry.
  private func fullConversation(_ name: String = "Ada Lovelace") -> ConversationBuilder {
    var builder = ConversationBuilder()
    let choices = [
      Choice(id: "always", title: "Always, and without asking again", answer: .approval),
      Choice(id: "once", title: "For today only", answer: .approval), .decline,
    ]
    let picture = Avatar(mediaType: "image/png", bytes: Array(repeating: 0, count: 3_000))
    let first = ConversationBuilder.question(
      1, ["ada", "+1 555 010 0199"], name: name, avatar: picture)
    builder.ask(first)
    builder.happen(3, .conversation(PersonID(3)), .reminded(first.id))
    builder.decide(2, first, .approve)
    builder.ask(
      ConversationBuilder.question(
        2, ["someone.with.a.very.long.address@example.com"], choices: choices))
    let gone = ConversationBuilder.question(3)
    builder.ask(gone)
    builder.happen(3, .conversation(PersonID(3)), .cancelled(gone.id))
    builder.ask(
      ConversationBuilder.question(
        4, ["late"], expiration: ConversationBuilder.start + .minutes(30))
    )
    builder.post(3, "Can we go to the lighthouse? 灯台に行きたいです。とてもきれいだと聞きました。")
    builder.post(1, "Yes! \(String(repeating: "Wow", count: 40))")
    let here = ConversationBuilder.question(5, ["maria"], name: "マリア")
    builder.happen(
      3, .conversation(PersonID(3)),
      .answeredInPerson(
        ConversationBuilder.header(here), .question(here),
        Decision(question: here.id, choice: ChoiceHeader(id: "approve", answer: .approval)),
        proof: []))
    builder.happen(
      1, .conversation(PersonID(3)),
      .withdrawn(
        child: PersonID(3),
        .withdrawal(.handle(Handle("ada", .custom), in: ConversationBuilder.app))))
    let update = Question(
      id: QuestionID(high: 1, low: 6), topic: .significantUpdate(description: "Now with chats."))
    builder.ask(update, child: 4)
    return builder
  }

  @Test(
    "M1, M2: no row is wider than the terminal, in any language",
    arguments: [79, 80, 50, 49, 40, 39, 20], Language.allCases)
  func widths(_ columns: Int, _ language: Language) {
    let renderer = renderer(columns, language)
    for person: UInt32 in 1...4 {
      let builder = fullConversation()
      let timeline = builder.timeline(person, renderer)
      var rows = builder.screen(person, renderer)
      #expect(rows.count > 5)
      for child in timeline.children {
        rows += renderer.overview(timeline, of: child, numbers: [:])
      }
      rows += renderer.help(TerminalCommand.help(isGuardian: person < 3))
      for row in rows { #expect(row.cells <= columns, "\(row.text)") }
    }
  }

  @Test("M1: own messages are on the right, others' on the left, with author and time")
  func sides() {
    var builder = ConversationBuilder()
    builder.post(3, "Hello")
    builder.post(1, "Hi")
    #expect(
      builder.screen(3, renderer(30)).texts.map { $0.replacing("\u{202F}", with: " ") } == [
        "             Emily · 8:28 PM".padding(to: 28).leading(2), "                     ╭───────╮",
        "                     │ Hello │", "                     ╰───────╯",
        "                          Sent", " Rosa · 8:29 PM", "╭────╮", "│ Hi │", "╰────╯",
      ])
  }

  @Test(
    "M2, M6, R1, S2: a bubble shows the child, the app and each person, and warns of pictures",
    arguments: [nil, .sensitive, .unknown, .clean] as [ContentVerdict?])
  func bubble(_ verdict: ContentVerdict?) {
    let picture = Avatar(mediaType: "image/png", bytes: Array(repeating: 0, count: 3_000))
    var builder = ConversationBuilder()
    builder.ask(ConversationBuilder.question(1, name: "Ada", avatar: picture))
    var pictures = Pictures()
    if let verdict { pictures.record(verdict, for: picture) }
    let text = builder.screen(1, renderer(pictures: pictures)).whole
    #expect(text.contains("#2 · Emily"))
    #expect(text.contains("Emily would like to send messages to Ada in example.landmarks."))
    let line =
      verdict == .clean
      ? "Picture: image/png, 3 KB" : "This picture is hidden because it may be sensitive."
    #expect(text.contains("• Ada (dragonslayer42) \(line)"))
    #expect(text.contains("[d2] Decline [r2] Review [p2] Show Picture"))
    #expect(!builder.screen(3, renderer()).whole.contains("[d2]"))
  }

  @Test("R3, R8: a bubble shows the decision, the expiry or the cancellation")
  func outcomes() {
    let text = fullConversation().screen(3, renderer()).whole
    #expect(text.contains("Alex chose “Approve”."))
    #expect(text.contains("Emily cancelled the request."))
    #expect(text.contains("This request has expired."))
    #expect(text.contains("Decided in person on Emily’s device: “Approve”."))
    #expect(text.contains("Rosa withdrew permission for ada."))
  }

  @Test("A6: the conversation shows a reminder") func reminder() {
    #expect(fullConversation().screen(1, renderer()).whole.contains("#2 · Emily sent a reminder."))
  }

  @Test("M1: a guardian sees each child's conversation under its own heading")
  func children() {
    let rows = fullConversation().screen(1, renderer()).texts
    #expect(rows.contains { $0.hasPrefix("── Emily ──") })
    #expect(rows.contains { $0.hasPrefix("── Noah ──") })
    #expect(!fullConversation().screen(4, renderer()).whole.contains("Emily"))
  }
}

extension String {
  fileprivate func padding(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
  fileprivate func leading(_ count: Int) -> String { String(repeating: " ", count: count) + self }
}
