@testable import DeviceScreen
@testable import DeviceAgent
import FamilyCore
import FamilyModel
import Foundation
import SystemClock
@testable import TerminalUI
import Testing
import Wording

/// The documents of Rosa (1), Alex (2), Emily (3) and Noah (4).
@Suite struct ScreenTests {
  private static let now = ConversationBuilder.start + .minutes(60)
  private static let utc = TimeZone(secondsFromGMT: 0)!

  private func source(
    _ builder: ConversationBuilder, _ person: UInt32, relay: RelayState = .connected
  ) -> DeviceSource {
    DeviceSource(
      view: DeviceView(
        link: builder.link(person), name: ConversationBuilder.names[Int(person) - 1],
        isGuardian: person <= 2, relay: relay, notifications: builder.notifications(person)),
      role: person <= 2 ? .guardian : .child)
  }

  private func screen(
    _ builder: ConversationBuilder, _ person: UInt32, _ language: Language = .english,
    adjust: (inout DeviceSource) -> Void = { _ in }
  ) -> Screen {
    var source = source(builder, person)
    adjust(&source)
    return Screen(source, Wording(language), now: Self.now, timeZone: Self.utc)
  }

  private func json(_ screen: Screen) throws -> String {
    String(decoding: try JSONEncoder().encode(screen), as: UTF8.self)
  }

  @Test("X4, M1: a guardian's document shows all children, and a child's only the own conversation")
  func children() {
    var builder = ConversationBuilder()
    builder.post(3, "from Emily")
    builder.post(4, "from Noah", child: 4)
    let rosa = screen(builder, 1)
    #expect(rosa.children.map(\.name) == ["Emily", "Noah"])
    #expect(rosa.children.map { $0.entries.map(\.text) } == [["from Emily"], ["from Noah"]])
    #expect((rosa.family, rosa.device, rosa.person, rosa.role) == (1, 1, 1, "organizer"))
    let emily = screen(builder, 3)
    #expect(emily.children.map(\.name) == ["Emily"])
    #expect(emily.children[0].entries.map(\.isMine) == [true])
    #expect(emily.children[0].entries[0].delivery == "sent")
    #expect(emily.children[0].entries[0].deliveryText == "Sent")
    #expect(emily.role == "child" && emily.banners == [] && emily.relay == "connected")
  }

  @Test("X4, M2: a question has its number, people, choices, and then its outcome")
  func question() throws {
    var builder = ConversationBuilder()
    let question = ConversationBuilder.question(1, name: "Ada")
    let seq = builder.ask(question)
    let open = try #require(screen(builder, 1).children[0].entries[0].question)
    #expect((open.number, open.state, open.outcome) == (seq, "open", nil))
    #expect(open.sentence == "Emily would like to send messages to Ada in example.landmarks.")
    #expect(open.people.map(\.name) == ["Ada"] && open.people[0].handle == "dragonslayer42")
    #expect(open.people[0].handleKind == "custom" && open.people[0].picture == nil)
    #expect(open.choices.map(\.id) == ["approve", "decline"])
    #expect(open.choices.map(\.answer) == ["approval", "denial"])
    builder.decide(1, question, .approve)
    let answered = try #require(screen(builder, 3).children[0].entries[0].question)
    #expect(answered.state == "answered" && answered.outcome == "Rosa chose “Approve”.")
    let emily = screen(builder, 3).children[0]
    #expect(emily.entries[1].text == "#\(seq) · Rosa chose “Approve”.")
    #expect(emily.entries[1].kind == "decision" && emily.entries[0].delivery == "answered")
    #expect(emily.known.map(\.handle) == ["dragonslayer42"])
  }

  @Test("X4, R2: an answer in the outbox is shown as waiting until its event arrives")
  func answering() throws {
    var builder = ConversationBuilder()
    let question = ConversationBuilder.question(1)
    builder.ask(question)
    builder.remember(
      .outbox(
        position: 1, CommandID(high: 9, low: 9), .answer(question.id, choice: "decline")))
    let waiting = screen(builder, 1)
    #expect(waiting.outbox == 1)
    let shown = try #require(waiting.children[0].entries[0].question)
    #expect(shown.state == "open")
    #expect(shown.answering == .init(choice: "decline", title: "Decline"))
    // The builder's records belong to every device, so that the event ends Alex's command, too.
    builder.decide(1, question, .decline)
    #expect(screen(builder, 2).children[0].entries[0].question?.state == "answered")
  }

  @Test("X4: a message in the outbox has no number, and a stable time") func outbox() {
    var builder = ConversationBuilder()
    let id = CommandID(high: UInt64(Self.now.milliseconds) << 16, low: 1)
    builder.remember(.outbox(position: 1, id, .post(child: PersonID(3), .text("later"))))
    let entry = screen(builder, 3).children[0].entries[0]
    #expect(entry.seq == nil && entry.at == Self.now.milliseconds)
    #expect(entry.delivery == "sending" && entry.text == "later")
  }

  @Test("X4: an expired question is closed by time alone") func expiry() {
    var builder = ConversationBuilder()
    builder.ask(ConversationBuilder.question(1, expiration: Self.now - .minutes(1)))
    let question = screen(builder, 1).children[0].entries[0].question
    #expect(question?.state == "expired" && question?.outcome == "This request has expired.")
  }

  @Test("X4: codes stay and texts follow the language", arguments: Language.allCases)
  func languages(_ language: Language) {
    var builder = ConversationBuilder()
    let question = ConversationBuilder.question(1, name: "Ada")
    builder.ask(question)
    builder.decide(1, question, .approve)
    let (english, other) = (screen(builder, 3), screen(builder, 3, language))
    #expect(other.language == language.rawValue)
    let entries = other.children[0].entries
    #expect(entries.map(\.kind) == english.children[0].entries.map(\.kind))
    #expect(entries[0].question?.state == "answered")
    #expect((entries[0].text == english.children[0].entries[0].text) == (language == .english))
  }

  @Test("M6, X4: no control of a person or an app reaches a document") func hostile() throws {
    let bad = "\u{1B}[2J\u{7}\t\u{9B}1A\u{202E}\u{2028}evil"
    var builder = ConversationBuilder(names: [bad, bad, bad, bad])
    let choice = Choice(id: "a", title: bad, answer: .approval)
    let picture = Avatar(mediaType: bad, bytes: [1, 2])
    let question = ConversationBuilder.question(
      1, [bad], name: bad, avatar: picture, choices: [choice, .decline])
    builder.ask(question)
    builder.decide(1, question, choice)
    builder.post(1, bad + "\nsecond line")
    let prompts: [Prompt] = [
      .permission(AppID(bad), question), .compose(AppID(bad), question, to: []),
      .passcode(AppID(bad), question, wait: .zero, after: nil),
    ]
    for person: UInt32 in [1, 3] {
      let screen = screen(builder, person) { source in
        source.prompts = prompts.map {
          OpenPrompt(id: 1, prompt: $0, window: bad, received: Self.now)
        }
      }
      let text = try json(screen)
      #expect(text.contains("evil") && text.contains("second line"))
      let entries = screen.children[0].entries
      #expect(entries.last?.text.contains("\n") ?? false)
      for scalar in text.unicodeScalars {
        #expect(scalar.properties.generalCategory != .control && scalar.value != 0x202E)
      }
      // JSON escapes controls, so that an escape may appear for the line break alone.
      #expect(!text.contains("\\u0") && !text.contains("\\t") && !text.contains("\\b"))
    }
  }

  @Test("S2, X4: a picture has a warning and no bytes until it is clean") func pictures() throws {
    var builder = ConversationBuilder()
    let picture = Avatar(mediaType: "image/png", bytes: Array(repeating: 0x41, count: 64))
    builder.ask(ConversationBuilder.question(1, avatar: picture))
    let hidden = screen(builder, 1).children[0].entries[0].question?.people[0].picture
    #expect(hidden?.isClean == false && hidden?.bytes == 64)
    #expect(hidden?.text == "This picture is hidden because it may be sensitive.")
    #expect(!(try json(screen(builder, 1))).contains("AAAA"))
    let clean = screen(builder, 1) { $0.pictures.record(.clean, for: picture) }
    #expect(clean.children[0].entries[0].question?.people[0].picture?.isClean == true)
  }

  @Test("R3, X4: a refused answer names the guardian who was first, once that event has arrived")
  func refusal() {
    var builder = ConversationBuilder()
    let question = ConversationBuilder.question(1)
    builder.ask(question)
    let refused = Refused(
      at: Self.now,
      notice: .refused(.answer(question.id, choice: "decline"), .alreadyAnswered))
    let early = screen(builder, 2) { $0.refusals = [refused] }
    #expect(early.refusals.map(\.text) == ["That didn’t work (problem 401)."])
    builder.decide(1, question, .approve)
    let late = screen(builder, 2) { $0.refusals = Array(repeating: refused, count: 9) }
    #expect(late.refusals.count == 8 && late.refusals[0].code == 401)
    #expect(late.refusals[0].text == "Rosa has already answered: “Approve”.")
  }

  @Test(
    "X4: banners name the missing connection", arguments: [RelayState.unreachable, .connecting])
  func banners(_ relay: RelayState) {
    let screen = Screen(
      source(ConversationBuilder(), 3, relay: relay), Wording(.english), now: Self.now)
    #expect(screen.banners == ["Not connected. Messages will be sent later."])
    #expect(screen.relay == (relay == .connecting ? "connecting" : "unreachable"))
  }

  @Test("X4: absent values are null, so that each document has all keys") func nulls() throws {
    var builder = ConversationBuilder()
    builder.ask(ConversationBuilder.question(1))
    let text = try json(screen(builder, 1))
    for key in ["answering", "outcome", "description", "picture", "name"] {
      #expect(text.contains("\"\(key)\":null"))
    }
    let back = try JSONDecoder().decode(Screen.self, from: Data(text.utf8))
    #expect(back == screen(builder, 1))
  }

  @Test("X4: a document has the newest entries, and fewer in an update above the bound of bytes")
  func bounds() throws {
    var builder = ConversationBuilder()
    for number in 0..<ScreenLimits.entries + 1 { builder.post(3, "\(number)") }
    let entries = screen(builder, 3).children[0].entries
    #expect(entries.count == ScreenLimits.entries && entries.first?.text == "1")
    var long = ConversationBuilder()
    for _ in 0..<ScreenLimits.entries { long.post(3, String(repeating: "é", count: 2_048)) }
    let sources = Array(repeating: source(long, 3), count: 8)
    let update = try #require(
      ScreenServer.update(sources, Wording(.english), now: Self.now))
    #expect(update.count <= ScreenLimits.updateBytes)
    struct Screens: Decodable { var screens: [Screen] }
    let screens = try JSONDecoder().decode(Screens.self, from: Data(update)).screens
    #expect(screens.map { $0.children[0].entries.count } == Array(repeating: 100, count: 8))
  }
}
