import FamilyModel

/// The prompts of one question on the child's device (A1, A2, A6).
///
/// `permission` → (ask by message) `compose` → (send) done; `permission` → (in person) `passcode` → (typed)
/// `checking` → (right) done, or → (wrong) `passcode`; `alreadyAsked` → (remind) done; `acknowledge` →
/// (taken note of) done; every stage → (cancel) done: nothing is sent (A5). Prompts are not durable: an app
/// whose `ask` had no outcome asks again after a restart, and the prompt is shown again.
struct AskFlow: Sendable {
  enum Stage: Hashable, Sendable {
    case permission
    case compose
    case alreadyAsked(QuestionID)
    case passcode
    /// The passcode is being checked, for this choice.
    case checking(choice: Choice)
    case acknowledge
  }
  let app: AppID
  var question: Question
  var stage: Stage

  /// The question with the names that the child gave on the compose sheet (A2).
  func named(_ names: [NameParts?]) -> Question {
    guard case .communication(var people, let actions) = question.topic else { return question }
    for (index, name) in zip(people.indices, names) where name != nil { people[index].name = name }
    var question = question
    question.topic = .communication(people: people, actions: actions)
    return question
  }
}

extension Question {
  /// What the relay needs to know of the question.
  func header(child: PersonID, app: AppID, subjects: [UInt8]) -> QuestionHeader {
    QuestionHeader(
      id: id, child: child, app: app, subjects: subjects,
      choices: choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) }, expiration: expiration)
  }
}
