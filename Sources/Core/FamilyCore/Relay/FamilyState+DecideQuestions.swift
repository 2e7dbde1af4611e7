import FamilyModel

/// Decisions about questions and answers.
extension FamilyState {
  func decide(question header: QuestionHeader, _ content: Content, _ proposal: Proposal)
    throws(Problem) -> Outcome
  {
    guard let person = proposal.person, person.role == .child else { throw .notAChild }
    try require(header.child == person.id)
    try check(content)
    try checkNewQuestion(header, now: proposal.now)
    return (.asked(header, content), .conversation(person.id))
  }

  func decide(reminder id: QuestionID, _ proposal: Proposal) throws(Problem) -> Outcome {
    let question = try ownOpenQuestion(id, proposal)
    guard question.lastAsked + Limits.reminderInterval <= proposal.now else {
      throw .remindedRecently
    }
    return (.reminded(id), .conversation(question.header.child))
  }

  func decide(cancellation id: QuestionID, _ proposal: Proposal) throws(Problem) -> Outcome {
    let question = try ownOpenQuestion(id, proposal)
    return (.cancelled(id), .conversation(question.header.child))
  }

  func decide(answer id: QuestionID, _ choiceID: String, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    try require(proposal.isGuardian)
    let question = try openQuestion(id, now: proposal.expirationTime)
    // A child may leave the family while a question is open.
    try requireChild(question.header.child)
    guard let choice = question.header.choice(choiceID) else { throw .unknown }
    return (
      .decided(Decision(question: id, choice: choice)), .conversation(question.header.child)
    )
  }

  func decide(
    inPerson header: QuestionHeader, _ content: Content, _ choiceID: String, proof: [UInt8],
    _ proposal: Proposal, _ verify: Verifier
  ) throws(Problem) -> Outcome {
    guard let person = proposal.person, person.role == .child else { throw .notAChild }
    try require(header.child == person.id)
    try check(content)
    try checkNewQuestion(header, now: proposal.expirationTime)
    let message = InPerson.signedBytes(
      family: proposal.family, command: proposal.id, header: header, choice: choiceID,
      content: verify.digest(of: content))
    try check(proof, of: message, proposal, verify)
    guard let choice = header.choice(choiceID) else { throw .unknown }
    let decision = Decision(question: header.id, choice: choice)
    return (.answeredInPerson(header, content, decision, proof: proof), .conversation(person.id))
  }

  // MARK: Checks

  private func checkNewQuestion(_ header: QuestionHeader, now: Instant) throws(Problem) {
    try header.validate()
    if let expiration = header.expiration, expiration <= now { throw .expirationInThePast }
    guard !questions.holds(header.id), !closed.holds(header.id) else { throw .conflict }
    var open = 0
    for entry in questions.entries {
      let question = entry.value
      guard question.header.child == header.child, question.isOpen(now) else { continue }
      open += 1
      guard open < Limits.openQuestions else { throw .tooMany }
      if case let subjects = header.subjects, !subjects.isEmpty,
        question.header.subjects == subjects,
        question.header.app == header.app
      {
        throw .alreadyAsked
      }
    }
  }

  private func openQuestion(_ id: QuestionID, now: Instant) throws(Problem) -> Question {
    guard let question = questions[id] else {
      guard let closed = closed[id] else { throw .unknown }
      throw closed.end.problem
    }
    guard question.isOpen(now) else { throw .expired }
    return question
  }

  private func ownOpenQuestion(_ id: QuestionID, _ proposal: Proposal) throws(Problem) -> Question {
    guard let child = questions[id]?.header.child ?? closed[id]?.child else { throw .unknown }
    guard proposal.person?.id == child else { throw .notPermitted }
    // Readers reject the event of a person who is no child any more.
    try requireChild(child)
    return try openQuestion(id, now: proposal.now)
  }

  /// The event of an equal question that the same child asked under another command id; `nil`:
  /// none.
  func seqOfSameQuestion(_ command: Command, by device: DeviceID) -> UInt64? {
    let header: QuestionHeader
    switch command {
    case .ask(let asked, _): header = asked
    case .answerInPerson(let asked, _, _, _): header = asked
    default: return nil
    }
    let seq: UInt64
    if let question = questions[header.id] {
      guard question.header == header else { return nil }
      seq = question.seq
    } else {
      guard let closed = closed[header.id], closed.child == header.child,
        closed.digest == header.digest
      else { return nil }
      seq = closed.seq
    }
    return roster.member(of: device)?.id == header.child ? seq : nil
  }
}
