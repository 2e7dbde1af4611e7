import FamilyCore
import FamilyModel
import Wording

/// A dialogue with the person: takes one line after the other until it knows what it asks for.
///
/// It is a value without input or output of its own.
protocol Dialog: Sendable {
  /// What is shown when its turn has come.
  func opening(_ renderer: Renderer) -> [Row]
  /// What stands before the cursor, now.
  func label(_ renderer: Renderer) -> String
  /// Whether what is typed must not be seen.
  var isHidden: Bool { get }
  /// Takes a line.
  mutating func take(_ line: String, _ renderer: Renderer) -> DialogStep
}

/// What comes of a line.
enum DialogStep: Hashable, Sendable {
  /// The dialogue goes on, after these rows.
  case more([Row])
  /// It is over.
  case done(DialogResult)
}

/// What a dialogue was for.
enum DialogResult: Hashable, Sendable {
  /// The child's answer to a prompt.
  case answer(PromptAnswer)
  /// A guardian's answer to a question.
  case choose(QuestionID, String)
  /// What a guardian takes back.
  case withdraw(child: PersonID, Withdrawal)
  /// A new passcode.
  case passcode(String)
  /// Nothing.
  case nothing
}

extension Dialog {
  var isHidden: Bool { false }

  /// The index of the item that a line names by its number, or `nil`.
  func index(_ line: String, of count: Int) -> Int? {
    guard let number = Int(line.trimmingSpaces), 1...max(1, count) ~= number, count > 0 else {
      return nil
    }
    return number - 1
  }

  /// The rows for a line that names no item.
  func unclear(_ renderer: Renderer, of count: Int) -> DialogStep {
    .more(renderer.text(renderer.wording(.chooseNumber, "\(count)"), .bad))
  }
}

extension String {
  var trimmingSpaces: String {
    var text = Substring(self)
    while text.first?.isWhitespace ?? false { text.removeFirst() }
    while text.last?.isWhitespace ?? false { text.removeLast() }
    return String(text)
  }
}

/// A guardian's review of a question (R2): all details, then its choices.
struct ReviewDialog: Dialog {
  let card: Card
  let child: Person
  let titles: [String]
  private var choices: [Choice] { card.question?.choices ?? [] }

  func opening(_ renderer: Renderer) -> [Row] {
    [renderer.rule(renderer.wording(.review))] + renderer.details(card, child: child.displayName)
      + renderer.menu(titles + [renderer.wording(.notNow)])
  }

  func label(_ renderer: Renderer) -> String { "1–\(choices.count + 1) › " }

  mutating func take(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: choices.count + 1) else {
      return unclear(renderer, of: choices.count + 1)
    }
    return .done(
      index < choices.count ? .choose(card.header.id, choices[index].id) : .nothing)
  }
}

/// Picks the handle that is not to be known any more (R9).
struct WithdrawDialog: Dialog {
  let child: Person
  let known: [KnownHandle]

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(.withdrawFrom), .bold)
      + renderer.menu(known.map(\.text) + [renderer.wording(.cancel)])
  }

  func label(_ renderer: Renderer) -> String { "1–\(known.count + 1) › " }

  mutating func take(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: known.count + 1) else {
      return unclear(renderer, of: known.count + 1)
    }
    return .done(
      index < known.count ? .withdraw(child: child.id, known[index].withdrawal) : .nothing)
  }
}

/// Takes a new passcode (A4), twice and hidden. An empty line leaves it.
struct PasscodeDialog: Dialog {
  static let length = 4...64
  private var first: String?
  var isHidden: Bool { true }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(.newPasscode), .bold)
      + renderer.menu([(key: "⏎", label: renderer.wording(.cancel))])
  }

  func label(_ renderer: Renderer) -> String {
    renderer.wording(first == nil ? .enterPasscode : .passcodeAgain) + " › "
  }

  mutating func take(_ line: String, _ renderer: Renderer) -> DialogStep {
    if line.isEmpty { return .done(.nothing) }
    guard Self.length ~= line.count else {
      return .more(renderer.text(renderer.wording(.passcodeLength), .bad))
    }
    guard let first else {
      first = line
      return .more([])
    }
    self.first = nil
    guard first == line else {
      return .more(renderer.text(renderer.wording(.passcodesDiffer), .bad))
    }
    return .done(.passcode(line))
  }
}
