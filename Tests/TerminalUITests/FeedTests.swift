import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

@Suite struct FeedTests {
  @Test("M4: the delivery state under a message changes in place, from sending to answered")
  func states() {
    var builder = ConversationBuilder()
    var feed = Feed()
    let question = ConversationBuilder.question(1)
    // The command has the id of its later event.
    var waiting = builder
    waiting.remember(
      .outbox(
        position: 1, CommandID(high: 7, low: 2),
        .ask(ConversationBuilder.header(question), .question(question))))
    let first = update(&feed, waiting)
    #expect(first.last?.rows.last?.text.trimmingSpaces == "Sending…")
    let seq = builder.ask(question)
    // The number is known as soon as the relay has committed the question.
    #expect(
      update(&feed, builder) == [
        .init(rows: [renderer().right("#\(seq) · Sent")], replacesLast: true)
      ])
    builder.remember(.receipt(.conversation(PersonID(3)), Receipt(delivered: seq)))
    #expect(update(&feed, builder).map { $0.rows[0].text.trimmingSpaces } == ["#2 · Delivered"])
    feed.invalidateLastRow()
    builder.remember(.receipt(.conversation(PersonID(3)), Receipt(delivered: seq, read: seq)))
    let read = update(&feed, builder)
    #expect(read.map { $0.rows[0].text.trimmingSpaces } == ["#2 · Read"])
    #expect(read.first?.replacesLast == false)
    builder.decide(1, question, .decline)
    #expect(
      update(&feed, builder).map { $0.rows[0].text.trimmingSpaces }
        == ["#2 · Rosa chose “Decline”.", "#2 · Answered"])
    #expect(update(&feed, builder) == [])
  }

  @Test("M5: shows each entry once, and after a long absence only new and open entries")
  func backlog() {
    var builder = ConversationBuilder()
    var feed = Feed()
    builder.ask(ConversationBuilder.question(1, ["open"]))
    for number in 0..<100 { builder.post(1, "number \(number)") }
    let text = update(&feed, builder).flatMap(\.rows).whole
    #expect(text.contains("open"))
    #expect(!text.contains("number 79 ") && text.contains("number 80 "))
    #expect(update(&feed, builder) == [])
  }

  @Test("R8: announces that a question has expired")
  func expiry() {
    var builder = ConversationBuilder()
    var feed = Feed()
    builder.ask(
      ConversationBuilder.question(1, expiration: ConversationBuilder.start + .minutes(30)))
    _ = feed.update(
      builder.timeline(1, renderer(at: 29)), renderer(at: 29), isGuardian: true)
    let rows = feed.update(
      builder.timeline(1, renderer(at: 31)), renderer(at: 31), isGuardian: true)
    #expect(rows.flatMap(\.rows).whole == "#2 · This request has expired.")
  }

  @Test("F4, F5, F6, K1, A4: announces changed settings")
  func facts() {
    var builder = ConversationBuilder()
    let before = FamilySummary(builder.timeline(1, renderer()))
    let child = PersonID(3)
    builder.happen(1, .conversation(child), .limitsChanged(child: child, on: false))
    builder.happen(
      1, .conversation(child),
      .contactChanged(child: child, .contact(Handle("a@b.example", .emailAddress), known: true)))
    builder.happen(
      1, .account(child),
      .accountChanged(
        child,
        .account(
          Account(
            birthdate: .init(year: 2014, month: 5, day: 7), region: "US",
            declaration: .guardianDeclared))))
    let news = FamilySummary(builder.timeline(1, renderer())).changes(since: before, renderer())
      .whole
    #expect(news.contains("Communication limits are off for Emily."))
    #expect(news.contains("New known contact: a@b.example"))
    #expect(news.contains("Emily was born on 2014-05-07."))
  }

  private func update(_ feed: inout Feed, _ builder: ConversationBuilder) -> [Feed.Output] {
    feed.update(builder.timeline(3, renderer()), renderer(), isGuardian: false)
  }
}
