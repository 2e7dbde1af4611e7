import FamilyCore
package import FamilyModel
import Wording

extension Renderer {
  /// The maximum width of a bubble's text, which leaves a margin on the other side.
  private var bubbleWidth: Int { min(columns - (columns >= 60 ? 16 : 6) - 4, 64) }

  /// A text message: the owner's on the right, all others on the left.
  func bubble(_ text: String, of entry: Entry) -> [Row] {
    let rows = [Row](text, in: bubbleWidth)
    return framed(rows, "╭─╮│╰╯", entry.isMine ? .own : .faint, title(of: entry), entry.isMine)
  }

  /// The question's number, the author and the time.
  private func title(of entry: Entry, number: UInt64? = nil) -> String {
    [number.map { "#\($0)" }, entry.author, time(entry.at)].compactMap { $0 }
      .joined(separator: " · ")
  }

  /// A question's bubble, with a frame that differs from a message's.
  ///
  /// - Parameter keys: The guardian's commands for an open question.
  func card(
    _ card: Card, of entry: Entry, number: UInt64?, answer: (by: String, title: String)?,
    keys: [(key: String, label: String)]
  ) -> [Row] {
    let child = entry.author
    var rows = details(card, child: child, in: bubbleWidth)
    switch card.phase {
    case .open where card.isExpired(now):
      rows += [""] + [Row](wording(.expiredLine), .bad, in: bubbleWidth)
    case .open: if !keys.isEmpty { rows += [""] + menu(keys, in: bubbleWidth) }
    case .cancelled:
      rows += [""] + [Row](wording(.cancelledLine, child), .faint, in: bubbleWidth)
    case .answered(let choice, _, _):
      let text = wording(
        .decidedLine, answer?.by ?? "?", answer?.title ?? wording.meaning(choice.answer))
      rows += [""] + [Row](text, choice.answer == .approval ? .good : .bad, in: bubbleWidth)
    }
    return framed(rows, "┏━┓┃┗┛", .question, title(of: entry, number: number), entry.isMine)
  }

  /// All details of the question: the sentence, and each person's name, handle and kind of picture.
  func details(_ card: Card, child: String, in width: Int? = nil) -> [Row] {
    let width = width ?? columns
    guard let question = card.question else { return [Row("?")] }
    let sentence = wording.question(
      child: child, app: name(of: card.header.app), topic: question.topic)
    return [Row](sentence, .bold, in: width) + people(question, in: width)
  }

  func people(_ question: Question, in width: Int? = nil) -> [Row] {
    switch question.topic {
    case .communication(let people, _):
      people.flatMap { person -> [Row] in
        var rows = hanging("• ", wording.person(person), in: width)
        if let avatar = person.avatar {
          rows += hanging("  ", line(of: avatar), .faint, in: width)
        }
        return rows
      }
    case .significantUpdate, .browse, .authorization: []
    }
  }

  /// The question's people, or the app's description of its update.
  func subjects(_ question: Question) -> [Row] {
    switch question.topic {
    case .communication: people(question)
    case .significantUpdate(let description):
      hanging("• ", description.isVisible ? description.sanitized : "…")
    case .browse(let site): hanging("• ", site.name)
    case .authorization: []
    }
  }

  /// The text that replaces a picture: a description of a clean one, a warning for any other.
  package func line(of picture: Avatar) -> String {
    pictures.isClean(picture)
      ? wording(.picture, picture.mediaType, size(picture.bytes.count)) : wording(.sensitivePicture)
  }

  /// A box around the rows, as wide as the widest row.
  private func framed(
    _ rows: [Row], _ frame: String, _ style: Style, _ title: String, _ isRight: Bool
  ) -> [Row] {
    let signs = frame.map(String.init)
    let inner = rows.map(\.cells).max() ?? 0
    let line = String(repeating: signs[1], count: inner + 2)
    let side = Row(signs[3], style)
    let box =
      [Row(signs[0] + line + signs[2], style)]
      + rows.map { side + Row(" ") + $0.padded(inner) + Row(" ") + side }
      + [Row(signs[4] + line + signs[5], style)]
    let head = Row(title.displaySafe.shortened(columns - 2), .faint)
    guard isRight else { return [head.indented(1)] + box }
    return [right(head.text)] + box.map { $0.indented(columns - inner - 4) }
  }
}
