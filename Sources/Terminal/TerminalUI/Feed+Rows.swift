package import FamilyCore
package import FamilyModel
package import Wording

extension Feed {
  /// The rows that show an entry.
  mutating func rows(
    _ entry: Entry, _ timeline: Timeline, _ renderer: Renderer, _ isGuardian: Bool
  ) -> [Row] {
    let wording = renderer.wording
    switch entry.body {
    case .text(let text): return renderer.bubble(text, of: entry)
    case .question(let card):
      show(card.header.id)
      let number = numbers[card.header.id]
      var keys: [(key: String, label: String)] = []
      if isGuardian, let number {
        if card.question?.choices.contains(where: { $0.answer == .denial }) ?? false {
          keys.append(("d\(number)", wording(.decline)))
        }
        keys.append(("r\(number)", wording(.review)))
        if !card.pictures.isEmpty { keys.append(("p\(number)", wording(.showPicture))) }
      }
      return renderer.card(
        card, of: entry, number: number, answer: timeline.answer(to: card), keys: keys)
    case .reminder(let id): return statusLine(id, wording(.reminderLine, entry.author), renderer)
    case .cancellation(let id):
      return statusLine(id, wording(.cancelledLine, entry.author), renderer)
    case .decision(let id, let title, let answer):
      return statusLine(
        id, wording(.decidedLine, entry.author, title), renderer, answer == .approval ? .good : .bad
      )
    case .inPerson(let card, let title, let answer):
      return renderer.details(card, child: entry.author).flatMap { renderer.centred($0.text) }
        + statusLine(
          card.header.id, wording(.inPersonLine, entry.author, title), renderer,
          answer == .approval ? .good : .bad)
    case .withdrawal(let withdrawal):
      return renderer.centred(
        wording(withdrawal.phrase, entry.author, withdrawal.subject(renderer)))
    case .newer: return renderer.centred(wording(.newerLine, entry.author))
    }
  }

  func statusLine(
    _ id: QuestionID, _ text: String, _ renderer: Renderer, _ style: Style = .faint
  ) -> [Row] {
    renderer.centred((numbers[id].map { "#\($0) · " } ?? "") + text, style)
  }

  /// The delivery state of the owner's message; `nil` for other entries.
  ///
  /// - Parameter isBelow: Whether the row follows its message; otherwise it names the message. The
  ///   row also names a question whose bubble has no number.
  func state(of entry: Entry, _ renderer: Renderer, isBelow: Bool = true) -> Row? {
    guard entry.isMine, let delivery = entry.delivery else { return nil }
    var subject = ""
    switch entry.body {
    case .question(let card) where !isBelow || unnumbered.contains(card.header.id):
      subject = numbers[card.header.id].map { "#\($0) · " } ?? ""
    case .text(let text) where !isBelow: subject = "\(text.displaySafe.shortened(16)) · "
    default: break
    }
    return renderer.right(subject + renderer.wording(delivery.phrase))
  }
}

extension Entry {
  var isText: Bool { if case .text = body { true } else { false } }
}

extension DeliveryState {
  /// The phrase that names the state.
  package var phrase: Phrase {
    switch self {
    case .sending: .sending
    case .sent: .sent
    case .delivered: .delivered
    case .read: .read
    case .answered: .answered
    }
  }
}

extension Withdrawal {
  /// The person's handle or the app.
  package func subject(_ renderer: Renderer) -> String {
    switch self {
    case .handle(let handle, _): handle.value
    case .consent(let app), .consentGiven(let app): renderer.name(of: app)
    }
  }

  /// The phrase with the guardian and the ``subject(_:)``.
  package var phrase: Phrase {
    if case .consentGiven = self { .consentGivenNotice } else { .withdrawnNotice }
  }
}
