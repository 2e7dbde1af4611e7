import FamilyModel

/// The prompts of one question on the child's device.
///
/// - `permission` → (ask by message) `compose`; → (in person) `passcode`.
/// - `compose` → (send) done.
/// - `passcode` → (typed) `evaluating`.
/// - `evaluating` → (evaluated) `checking`; → (no relay, or locked) `passcode`.
/// - `checking` → (right) done; → (wrong) `passcode`.
/// - `alreadyAsked` → (remind) done.
/// - `acknowledge` → (acknowledged) done.
/// - Every stage but `evaluating` and `checking` → (cancel) done, and nothing is sent.
///
/// Prompts are not durable. After a restart the app repeats an `ask` without an outcome, and the
/// device shows the prompt again.
struct AskFlow: Sendable {
  enum Stage: Hashable, Sendable {
    case permission
    case compose
    case alreadyAsked(QuestionID)
    case passcode
    /// The relay evaluates the passcode for this choice.
    case evaluating(choice: Choice)
    /// The shell checks the passcode for this choice and signs for the command with this id.
    case checking(choice: Choice, CommandID)
    case acknowledge

    var isChecking: Bool {
      switch self {
      case .evaluating, .checking: true
      default: false
      }
    }
  }
  let app: AppID
  var question: Question
  var stage: Stage
  /// The name of the app's window that asked; empty: none given.
  var window = ""

  /// The question with the names that the child entered on the compose sheet.
  func named(_ names: [NameParts?]) -> Question {
    var question = question
    switch question.topic {
    case .communication(var people, let actions):
      for (index, name) in zip(people.indices, names) where name != nil {
        people[index].name = name
      }
      question.topic = .communication(people: people, actions: actions)
    case .significantUpdate, .browse, .authorization: break
    }
    return question
  }
}

extension Question {
  /// The part of the question that the relay can read.
  func header(child: PersonID, app: AppID, subjects: [UInt8]) -> QuestionHeader {
    QuestionHeader(
      id: id, child: child, app: app, subjects: subjects,
      choices: choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) }, expiration: expiration)
  }
}
