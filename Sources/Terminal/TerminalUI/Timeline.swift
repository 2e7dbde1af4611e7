import FamilyCore
import FamilyModel
import Wording

/// A question as it is shown.
struct Card: Hashable, Sendable {
  var header: QuestionHeader
  /// What it says, where this device can open it.
  var question: Question?
  var phase: QuestionState.Phase

  init(_ header: QuestionHeader, _ question: Question?, _ phase: QuestionState.Phase = .open) {
    self.header = header
    self.question = question
    self.phase = phase
  }

  init(_ state: QuestionState) { self.init(state.header, state.question, state.phase) }

  /// Whether nobody can answer any more though nobody did.
  func isExpired(_ now: Instant) -> Bool {
    phase == .open && header.expiration.map { $0 < now } ?? false
  }

  func isOpen(_ now: Instant) -> Bool { phase == .open && !isExpired(now) }
}

/// One thing of a conversation that is shown, in the order of the relay; what this device has not
/// brought there yet comes last.
struct Entry: Hashable, Sendable {
  /// What it is.
  enum Body: Hashable, Sendable {
    case text(String)
    case question(Card)
    case reminder(QuestionID)
    case decision(QuestionID, title: String, Answer)
    case cancellation(QuestionID)
    case inPerson(Card, title: String, Answer)
    case withdrawal(Withdrawal)
  }
  /// The command that led to it: the same before and after the relay has it.
  var id: CommandID
  /// Whose conversation.
  var child: PersonID
  /// `nil` until the relay has it.
  var seq: UInt64?
  /// The author's name.
  var author: String
  /// Whether the device's owner wrote it.
  var isMine: Bool
  var at: Instant
  var body: Body
  /// How far the message has come (M4); a guardian's is sent, no more is known.
  var delivery: DeliveryState?
}

/// Makes entries of what a device knows.
struct Timeline {
  let link: DeviceLink
  let renderer: Renderer

  /// The conversations that the device's owner takes part in.
  var children: [Person] {
    let own = link.roster.children.filter { $0.id == link.personID }
    return own.isEmpty ? link.roster.children : own
  }

  func name(_ person: PersonID) -> String { link.roster.person(person)?.displayName ?? "?" }

  /// Who answered, and the title of the choice; `nil` while nobody did.
  func answer(to card: Card) -> (by: String, title: String)? {
    guard case .answered(let choice, let device, _) = card.phase else { return nil }
    return (name(link.owner(of: device)), title(of: choice, in: card.question))
  }

  /// The questions that can be answered, in their order.
  func openCards(of child: PersonID) -> [Card] {
    (link.conversations[child]?.inOrder.map(Card.init) ?? []).filter { $0.isOpen(renderer.now) }
  }

  func entries(of child: PersonID) -> [Entry] {
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
      body = .decision(id, title: title(of: choice, in: question), choice.answer)
    case .cancellation(let id): body = .cancellation(id)
    case .inPerson(let id, let choice):
      let state = conversation.questions[id]!
      body = .inPerson(
        Card(state), title: title(of: choice, in: state.question), choice.answer)
    case .withdrawal(let what): body = .withdrawal(what)
    }
    return Entry(
      id: line.command, child: child, seq: line.seq, author: name(author),
      isMine: author == link.personID, at: line.at, body: body, delivery: delivery)
  }

  /// What still has to reach the relay.
  private func waiting(for child: PersonID) -> [Entry] {
    link.waitingByID.compactMap { id, command in
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

  /// The choice's title, or its id where the question cannot be opened.
  func title(of choice: ChoiceHeader, in question: Question?) -> String {
    question?.choices.first { $0.id == choice.id }.map(renderer.title) ?? choice.id
  }
}
