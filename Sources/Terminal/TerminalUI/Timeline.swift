package import FamilyCore
package import FamilyModel
import Wording

/// A question as a screen shows it.
package struct Card: Hashable, Sendable {
  package var header: QuestionHeader
  /// The content; `nil` if this device cannot decrypt it.
  package var question: Question?
  package var phase: QuestionState.Phase

  init(_ header: QuestionHeader, _ question: Question?, _ phase: QuestionState.Phase = .open) {
    self.header = header
    self.question = question
    self.phase = phase
  }

  package init(_ state: QuestionState) { self.init(state.header, state.question, state.phase) }

  /// Whether the question expired without an answer.
  package func isExpired(_ now: Instant) -> Bool {
    phase == .open && header.hasExpired(at: now)
  }

  package func isOpen(_ now: Instant) -> Bool { phase == .open && !isExpired(now) }
}

/// One item of a conversation: committed entries in the relay's order, then those of the outbox.
package struct Entry: Hashable, Sendable {
  /// The kind of item and its content.
  package enum Body: Hashable, Sendable {
    case text(String)
    case question(Card)
    case reminder(QuestionID)
    case decision(QuestionID, title: String, Answer)
    case cancellation(QuestionID)
    case inPerson(Card, title: String, Answer)
    case withdrawal(Withdrawal)
    case newer
  }
  /// The id of the entry's command, which stays the same when the relay commits the event.
  package var id: CommandID
  /// The child whose conversation contains the entry.
  package var child: PersonID
  /// The event's sequence number; `nil` until the relay has committed it.
  package var seq: UInt64?
  /// The author's name.
  package var author: String
  /// Whether the device's owner wrote it.
  package var isMine: Bool
  package var at: Instant
  package var body: Body
  /// The message's delivery state. A guardian's message stays `sent`: it has no receipts.
  package var delivery: DeliveryState?
}

/// The conversations of a device's link, as entries.
package struct Timeline {
  package let link: DeviceLink
  package let renderer: Renderer

  package init(link: DeviceLink, renderer: Renderer) {
    self.link = link
    self.renderer = renderer
  }

  /// The conversations that the device's owner takes part in.
  var children: [Person] {
    let own = link.roster.children.filter { $0.id == link.personID }
    return own.isEmpty ? link.roster.children : own
  }

  /// Whether the owner is an adult, or in no family.
  var isAdult: Bool { link.person?.role != .child }

  /// The question's number and a separator, before a sentence about the question; empty for a
  /// question that this device does not know.
  package func prefix(_ id: QuestionID) -> String {
    link.conversations.values.lazy.compactMap { $0.questions[id] }.first.map { "#\($0.seq) · " }
      ?? ""
  }

  package func name(_ person: PersonID) -> String { link.roster.person(person)?.displayName ?? "?" }

  /// The person who answered and the choice's title; `nil` without an answer.
  package func answer(to card: Card) -> (by: String, title: String)? {
    guard case .answered(let choice, let device, let at) = card.phase else { return nil }
    return (name(link.owner(of: device)), title(of: choice, in: card.question, at: at))
  }

  /// The child's open questions, in the relay's order.
  package func openCards(of child: PersonID) -> [Card] {
    (link.conversations[child]?.questions.unanswered.map(Card.init) ?? []).filter {
      $0.isOpen(renderer.now)
    }
  }

  package func entries(of child: PersonID) -> [Entry] {
    let conversation = link.conversations[child] ?? Conversation()
    let sent = conversation.lines.map { entry($0, in: conversation, of: child) }
    let ids = Set(conversation.lines.map(\.command))
    return sent + waiting(for: child).filter { !ids.contains($0.id) }
  }

  private func entry(_ line: Line, in conversation: Conversation, of child: PersonID) -> Entry {
    let author = link.owner(of: line.device)
    var delivery: DeliveryState?
    let body: Entry.Body
    switch line.body {
    case .text(let text):
      body = .text(text)
      delivery = author == child ? conversation.delivery(ofSeq: line.seq) : .sent
    case .question(let id):
      body = .question(Card(conversation.questions[id]!))
      delivery = conversation.delivery(of: id)
    case .reminder(let id): body = .reminder(id)
    case .decision(let id, let choice):
      let question = conversation.questions[id]?.question
      body = .decision(id, title: title(of: choice, in: question, at: line.at), choice.answer)
    case .cancellation(let id): body = .cancellation(id)
    case .inPerson(let id, let choice):
      let state = conversation.questions[id]!
      body = .inPerson(
        Card(state), title: title(of: choice, in: state.question, at: line.at), choice.answer)
    case .withdrawal(let withdrawal): body = .withdrawal(withdrawal)
    case .newer: body = .newer
    }
    return Entry(
      id: line.command, child: child, seq: line.seq, author: name(author),
      isMine: author == link.personID, at: line.at, body: body, delivery: delivery)
  }

  /// The entries of commands that the relay has not acknowledged.
  private func waiting(for child: PersonID) -> [Entry] {
    link.pendingCommandsByID.compactMap { id, command in
      let body: Entry.Body
      switch command {
      case .post(child, .text(let text)): body = .text(text)
      case .ask(let header, .question(let question)) where header.child == child:
        body = .question(Card(header, question))
      default: return nil
      }
      return Entry(
        id: id, child: child, seq: nil, author: name(link.personID), isMine: true, at: renderer.now,
        body: body, delivery: .sending)
    }
  }

  /// The choice by which the question was answered, as people read it.
  func title(of choice: ChoiceHeader, in state: QuestionState?) -> String {
    var decidedAt = renderer.now
    if case .answered(_, _, let at) = state?.phase { decidedAt = at }
    return title(of: choice, in: state?.question, at: decidedAt)
  }

  /// The choice as people read it, with its id if the question cannot be decrypted.
  func title(of choice: ChoiceHeader, in question: Question?, at decision: Instant) -> String {
    let offered = question?.choices.first { $0.id == choice.id && $0.answer == choice.answer }
    return renderer.title(
      offered ?? Choice(id: choice.id, title: choice.id, answer: choice.answer),
      decidedAt: decision)
  }
}
