import FamilyCore
import FamilyModel
import Wording

/// A state machine that reads lines from the person until it has a result.
///
/// Dialogs are values and perform no input or output.
protocol Dialog: Sendable {
  /// The rows that open the dialog.
  func opening(_ renderer: Renderer) -> [Row]
  /// The label before the cursor in the current state.
  func label(_ renderer: Renderer) -> String
  /// Whether the terminal must not show the typed text.
  var isHidden: Bool { get }
  /// The result of an empty line; `nil` if the dialog reads empty lines itself.
  var leaving: DialogResult? { get }
  /// Processes one line.
  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep
}

/// The outcome of one submitted line.
enum DialogStep: Hashable, Sendable {
  /// The dialog shows these rows and expects another line.
  case more([Row])
  /// The dialog is complete.
  case done(DialogResult)
}

/// The result of a dialog.
indirect enum DialogResult: Hashable, Sendable {
  /// The child's answer to a prompt.
  case answer(PromptAnswer)
  /// A guardian's answer to a question.
  case choose(QuestionID, String)
  /// A guardian's withdrawal of an approval.
  case withdraw(child: PersonID, Withdrawal)
  /// A new passcode.
  case passcode(String)
  /// A new roster of the family.
  case roster(Roster)
  /// A step of a child's set-up, and the steps that follow; `nil` leaves the set-up.
  case onboard(Person, OnboardingDialog.Answer?, next: [OnboardingStep])
  /// The person cancelled the dialog.
  case nothing
}

extension Dialog {
  var isHidden: Bool { false }
  var leaving: DialogResult? { nil }

  /// The index of the item that a line names by its number, or `nil`.
  func index(_ line: String, of count: Int) -> Int? {
    guard let number = Int(line.trimmingSpaces), 1...max(1, count) ~= number, count > 0 else {
      return nil
    }
    return number - 1
  }

  /// The error for a line that names no item.
  func invalidNumber(_ renderer: Renderer, of count: Int) -> DialogStep {
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

/// A guardian's review of a question: all details, then its choices.
struct ReviewDialog: Dialog {
  let card: Card
  let child: Person
  let titles: [String]
  var leaving: DialogResult? { .nothing }
  private var choices: [Choice] { card.question?.choices ?? [] }

  func opening(_ renderer: Renderer) -> [Row] {
    [renderer.rule(renderer.wording(.review))] + renderer.details(card, child: child.displayName)
      + renderer.menu(titles + [renderer.wording(.notNow)])
  }

  func label(_ renderer: Renderer) -> String { "1–\(choices.count + 1) › " }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: choices.count + 1) else {
      return invalidNumber(renderer, of: choices.count + 1)
    }
    return .done(
      index < choices.count ? .choose(card.header.id, choices[index].id) : .nothing)
  }
}

/// Lets a guardian select the approval to withdraw from a child's known handles.
struct WithdrawDialog: Dialog {
  let child: Person
  let known: [KnownHandle]
  var leaving: DialogResult? { .nothing }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(.withdrawFrom), .bold)
      + renderer.menu(known.map { $0.text(renderer) } + [renderer.wording(.cancel)])
  }

  func label(_ renderer: Renderer) -> String { "1–\(known.count + 1) › " }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: known.count + 1) else {
      return invalidNumber(renderer, of: known.count + 1)
    }
    return .done(
      index < known.count ? .withdraw(child: child.id, known[index].withdrawal) : .nothing)
  }
}

/// Asks for a new passcode twice, hidden. An empty line cancels.
struct PasscodeDialog: Dialog {
  private var first: String?
  var isHidden: Bool { true }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(.newPasscode), .bold)
      + renderer.menu([(key: "⏎", label: renderer.wording(.cancel))])
  }

  func label(_ renderer: Renderer) -> String {
    renderer.wording(first == nil ? .enterPasscode : .passcodeAgain) + " › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    if line.isEmpty { return .done(.nothing) }
    guard Limits.passcodeLength ~= line.count else {
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
