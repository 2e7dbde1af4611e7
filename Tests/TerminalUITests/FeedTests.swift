import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

@Suite struct FeedTests {
  @Test("M4: the state under a message moves from sending to read, in its place")
  func states() {
    var story = ConversationBuilder()
    var feed = Feed()
    let question = ConversationBuilder.question(1)
    // The id of the command is that of the event which it becomes.
    var waiting = story
    waiting.remember(
      .outbox(
        position: 1, CommandID(high: 7, low: 2),
        .ask(ConversationBuilder.header(question), .question(question))))
    let first = update(&feed, waiting)
    #expect(first.last?.rows.last?.text.trimmingSpaces == "Sending…")
    let seq = story.ask(question)
    #expect(update(&feed, story) == [.init(rows: [renderer().right("Sent")], replacesLast: true)])
    story.remember(.receipt(.conversation(PersonID(3)), Receipt(delivered: seq)))
    #expect(update(&feed, story).map { $0.rows[0].text.trimmingSpaces } == ["Delivered"])
    feed.invalidateLastRow()
    story.remember(.receipt(.conversation(PersonID(3)), Receipt(delivered: seq, read: seq)))
    let read = update(&feed, story)
    #expect(read.map { $0.rows[0].text.trimmingSpaces } == ["#1 · Read"])
    #expect(read.first?.replacesLast == false)
    story.decide(1, question, .decline)
    #expect(
      update(&feed, story).map { $0.rows[0].text.trimmingSpaces }
        == ["#1 · Rosa chose “Decline”.", "#1 · Answered"])
    #expect(update(&feed, story) == [])
  }

  @Test("M5: what is shown is not shown again, and of a long absence only the end and what is open")
  func backlog() {
    var story = ConversationBuilder()
    var feed = Feed()
    story.ask(ConversationBuilder.question(1, ["open"]))
    for number in 0..<100 { story.post(1, "number \(number)") }
    let text = update(&feed, story).flatMap(\.rows).whole
    #expect(text.contains("open"))
    #expect(!text.contains("number 79 ") && text.contains("number 80 "))
    #expect(update(&feed, story) == [])
  }

  @Test("R8: an expiry is told when it comes")
  func expiry() {
    var story = ConversationBuilder()
    var feed = Feed()
    story.ask(ConversationBuilder.question(1, expiration: ConversationBuilder.start + 30 * 60_000))
    _ = feed.update(
      story.timeline(1, renderer(at: 29)), renderer(at: 29), isGuardian: true)
    let rows = feed.update(story.timeline(1, renderer(at: 31)), renderer(at: 31), isGuardian: true)
    #expect(rows.flatMap(\.rows).whole == "#1 · This request has expired.")
  }

  @Test("F4, F5, F6, K1, A4: what guardians settle is told")
  func facts() {
    var story = ConversationBuilder()
    let before = FamilySummary(story.timeline(1, renderer()))
    let child = PersonID(3)
    story.happen(1, .conversation(child), .limitsChanged(child: child, on: false))
    story.happen(
      1, .conversation(child),
      .contactChanged(child: child, .contact(Handle("a@b.example", .emailAddress), known: true)))
    story.happen(
      1, .account(child),
      .accountChanged(
        child,
        .account(
          Account(
            birthdate: .init(year: 2014, month: 5, day: 7), region: "US",
            declaration: .guardianDeclared))))
    let news = FamilySummary(story.timeline(1, renderer())).changes(since: before, renderer()).whole
    #expect(news.contains("Communication limits are off for Emily."))
    #expect(news.contains("New known contact: a@b.example"))
    #expect(news.contains("Emily was born on 2014-05-07."))
  }

  private func update(_ feed: inout Feed, _ story: ConversationBuilder) -> [Feed.Output] {
    feed.update(story.timeline(3, renderer()), renderer(), isGuardian: false)
  }
}
