import FamilyCore
import FamilyModel

/// Questions with contradictions, answers of every sort, and guesses of the passcode.
extension World {
  func forgeQuestion(_ identity: Identity, inPerson: Bool) {
    let member = member!
    let child = drawChild(identity)
    let handle = member.random.pick(Scenario.handles)
    var id = QuestionID(high: 43, low: member.random.next())
    if member.random.chance(15), !member.questions.isEmpty {
      id = member.random.pick(member.questions).id
    }
    let expiration: Instant? =
      member.random.chance(30)
      ? clock(relay.clock) + member.random.milliseconds(-60_000...60_000) : nil
    let question = Question(
      id: id,
      topic: .communication(people: [Subject(handle: handle)], actions: .message),
      choices: [.approve, .decline], expiration: expiration)
    var header = QuestionHeader(
      id: id, child: child, app: member.random.pick(Scenario.apps), subjects: [],
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: expiration)
    let isWrong = member.random.chance(35)
    if isWrong { contradict(&header) }
    if inPerson {
      submit(
        .answerInPerson(header, .question(question), choice: "approve", proof: []), identity,
        isWrong: true)
    } else {
      submit(.ask(header, .question(question)), identity, isWrong: isWrong)
    }
  }

  /// Makes the header, which the relay reads, differ from the sealed question.
  private func contradict(_ header: inout QuestionHeader) {
    switch member!.random.below(5) {
    case 0:
      // "Decline" means an approval.
      header.choices = [
        ChoiceHeader(id: "approve", answer: .approval),
        ChoiceHeader(id: "decline", answer: .approval),
      ]
    case 1: header.choices = [ChoiceHeader(id: "approve", answer: .approval)]
    case 2: header.expiration = clock(relay.clock) + .days(1_000)
    case 3:
      header.choices =
        header.choices + (0..<20).map { ChoiceHeader(id: "\($0)", answer: .approval) }
    default: header.id = QuestionID(high: 44, low: member!.random.next())
    }
  }

  /// An answer to any question with any choice.
  func forgeAnswer(_ identity: Identity) {
    let questions = member!.questions
    guard !questions.isEmpty else { return }
    let header =
      member!.random.chance(60) ? questions[questions.count - 1] : member!.random.pick(questions)
    let ids = header.choices.map(\.id)
    guard !ids.isEmpty else { return }
    submit(.answer(header.id, choice: member!.random.pick(ids)), identity)
  }

  func forgeReminder(_ identity: Identity) {
    guard let header = member!.questions.last else { return }
    submit(member!.random.chance(50) ? .remind(header.id) : .cancel(header.id), identity)
  }

  /// A passcode that the relay has prepared no secret for, or one that it has.
  func setPasscode(_ identity: Identity) {
    if member!.random.chance(50) {
      send(.evaluate(Array(repeating: 4, count: 32), isNew: true), as: identity)
    }
    let evaluation = PasscodeEvaluation(
      element: [], proof: [],
      relayKey: member!.random.pick([
        Array(repeating: ~UInt8(1), count: 32), Array(repeating: 6, count: 32), [],
      ]))
    submit(.setPasscode(FakePasscode.make("000000", evaluation)), identity)
  }

  /// Guesses the passcode more often than the relay permits.
  func guess(_ identity: Identity) {
    for _ in 0..<9 {
      let element = (0..<4).flatMap { _ in
        withUnsafeBytes(of: member!.random.next()) { Array($0) }
      }
      send(.evaluate(element, isNew: false), as: identity)
    }
  }
}
