import FamilyCore
import FamilyModel
import Wording

extension Renderer {
  /// The widest text in a bubble: bubbles leave room at the side that is not theirs.
  private var bubbleWidth: Int { min(columns - (columns >= 60 ? 16 : 6) - 4, 64) }

  /// A text message (M1): the owner's at the right, others' at the left.
  func bubble(_ text: String, of entry: Entry) -> [Row] {
    let rows = [Row](text, in: bubbleWidth)
    return framed(rows, "╭─╮│╰╯", entry.isMine ? .own : .faint, title(of: entry), entry.isMine)
  }

  /// Who and when.
  private func title(of entry: Entry, number: Int? = nil) -> String {
    [number.map { "#\($0)" }, entry.author, time(entry.at)].compactMap { $0 }
      .joined(separator: " · ")
  }

  /// A question's bubble (M2, M6), with a look of its own.
  ///
  /// - Parameter keys: What the guardian can type, where it is open.
  func card(
    _ card: Card, of entry: Entry, number: Int, answer: (by: String, title: String)?,
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
      let text = wording(.decidedLine, answer?.by ?? "?", answer?.title ?? choice.id)
      rows += [""] + [Row](text, choice.answer == .approval ? .good : .bad, in: bubbleWidth)
    }
    return framed(rows, "┏━┓┃┗┛", .question, title(of: entry, number: number), entry.isMine)
  }

  /// Everything that is known of the question (R2): the sentence, and each person with name, handle,
  /// and what kind of picture there is.
  func details(_ card: Card, child: String, in width: Int? = nil) -> [Row] {
    let width = width ?? columns
    guard let question = card.question else { return [Row("?")] }
    let sentence = wording.question(
      child: child, app: card.header.app.rawValue, topic: question.topic)
    return [Row](sentence, .bold, in: width) + people(question, in: width)
  }

  func people(_ question: Question, in width: Int? = nil) -> [Row] {
    guard case .communication(let people, _) = question.topic else { return [] }
    return people.flatMap { person -> [Row] in
      var rows = hanging("• ", wording.person(person), in: width)
      if let avatar = person.avatar { rows += hanging("  ", line(of: avatar), .faint, in: width) }
      return rows
    }
  }

  /// What stands in the place of a picture (S2).
  func line(of picture: Avatar) -> String {
    pictures.isClean(picture)
      ? wording(.picture, picture.mediaType, size(picture.bytes.count)) : wording(.sensitivePicture)
  }

  /// What is framed is as wide as its widest row.
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
    let head = Row(title.shown.shortened(columns - 2), .faint)
    guard isRight else { return [head.indented(1)] + box }
    return [right(head.text)] + box.map { $0.indented(columns - inner - 4) }
  }
}
