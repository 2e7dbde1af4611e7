public import FamilyModel

extension FamilyState {
  /// Bytes of the digest of the people asked about.
  static let subjectBytes = 64

  /// Whether the signature is of the message, under the key.
  public typealias Verify =
    @Sendable (_ publicKey: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool

  /// What the command leads to, and who may see it. Nothing changes until the event is applied.
  ///
  /// - Parameters:
  ///   - id: The command's id, which is part of what is signed for age settings.
  ///   - device: Who sent it; zero: the administrator.
  ///   - family: The family's number, which is part of what is signed.
  /// - Throws: the `Problem` for which the command is refused.
  public func decide(
    _ command: Command, id: CommandID, by device: DeviceID, in family: FamilyID, now: Instant,
    verify: Verify
  ) throws(Problem) -> (body: Event.Body, audience: Audience) {
    let isAdministrator = device.rawValue == 0
    let person = roster.owner(of: device)
    func require(_ isAllowed: Bool) throws(Problem) {
      guard isAllowed else { throw .notPermitted }
    }
    func child(_ id: PersonID) throws(Problem) {
      guard roster.person(id)?.role == .child else { throw .unknown }
    }
    let isGuardian = person?.role.isGuardian ?? false
    switch command {
    case .setRoster(let roster):
      try require(isAdministrator)
      try roster.validate()
      return (.rosterChanged(roster), .family)
    case .setAccount(let id, let content):
      guard let owner = roster.person(id) else { throw .unknown }
      try require(isAdministrator || isGuardian && owner.role == .child)
      try check(content)
      return (.accountChanged(id, content), .account(id))
    case .setLimits(let id, let on):
      try child(id)
      try require(isAdministrator || isGuardian)
      return (.limitsChanged(child: id, on: on), .conversation(id))
    case .ask(let header, let content):
      guard let person, person.role == .child else { throw .notAChild }
      try require(header.child == person.id)
      try check(content)
      try decide(asking: header, now)
      return (.asked(header, content), .conversation(person.id))
    case .remind(let id):
      let question = try ownOpenQuestion(id, person, now)
      guard question.lastAsked + Limits.reminderInterval <= now else { throw .remindedRecently }
      return (.reminded(id), .conversation(question.header.child))
    case .cancel(let id):
      let question = try ownOpenQuestion(id, person, now)
      return (.cancelled(id), .conversation(question.header.child))
    case .answer(let id, let choiceID):
      try require(isGuardian)
      let question = try openQuestion(id, now)
      // The child may have left the family with the question open.
      try child(question.header.child)
      guard let choice = question.header.choices.first(where: { $0.id == choiceID }) else {
        throw .unknown
      }
      return (
        .decided(Decision(question: id, choice: choice)), .conversation(question.header.child)
      )
    case .post(let id, let content):
      try child(id)
      try require(isGuardian || person?.id == id)
      try check(content)
      return (.posted(child: id, content), .conversation(id))
    case .changeContact(let id, let content):
      try child(id)
      try require(isGuardian)
      try check(content)
      return (.contactChanged(child: id, content), .conversation(id))
    case .setPasscode(let passcode):
      try require(isGuardian)
      try passcode.validate()
      return (.passcodeChanged(passcode), .family)
    case .answerInPerson(let header, let content, let choiceID, let proof):
      guard let person, person.role == .child else { throw .notAChild }
      try require(header.child == person.id)
      try check(content)
      try decide(asking: header, now)
      guard let passcode else { throw .noPasscode }
      let message = InPerson.signedBytes(family: family, header: header, choice: choiceID)
      guard verify(passcode.publicKey, proof, message) else { throw .noProof }
      guard let choice = header.choices.first(where: { $0.id == choiceID }) else { throw .unknown }
      let decision = Decision(question: header.id, choice: choice)
      return (
        .answeredInPerson(header, content, decision, proof: proof), .conversation(person.id)
      )
    case .withdraw(let id, let content):
      try child(id)
      try require(isGuardian)
      try check(content)
      return (.withdrawn(child: id, content), .conversation(id))
    case .addChild(let name):
      try require(isGuardian)
      var roster = roster
      // Numbers are not given anew: what a person who left has said stays theirs.
      let id = PersonID((persons.map(\.rawValue).max() ?? 0) + 1)
      roster.persons.append(Person(id: id, role: .child, displayName: name))
      try roster.validate()
      return (.rosterChanged(roster), .family)
    case .noteAge(let content):
      guard let person else { throw .notPermitted }
      try check(content)
      return (.ageNoted(person.id, content), .account(person.id))
    case .setAge(let owner, let content, let proof):
      guard let owner = roster.person(owner) else { throw .unknown }
      try check(content)
      let isOwn = person?.id == owner.id
      if isOwn, owner.role == .child {
        guard let passcode else { throw .noPasscode }
        let message = InPerson.signedBytes(family: family, child: owner.id, command: id)
        guard verify(passcode.publicKey, proof, message) else { throw .noProof }
      } else {
        try require(isAdministrator || isOwn || isGuardian && owner.role == .child)
      }
      return (.ageSet(owner.id, content), .account(owner.id))
    }
  }

  private func decide(asking header: QuestionHeader, _ now: Instant) throws(Problem) {
    guard !header.choices.isEmpty, header.choices.count <= Limits.choices,
      Set(header.choices.map(\.id)).count == header.choices.count,
      header.choices.allSatisfy({ 1...Limits.identifierBytes ~= $0.id.utf8.count })
    else { throw .badChoices }
    guard header.app.rawValue.utf8.count <= Limits.identifierBytes,
      header.subjects.count <= Self.subjectBytes
    else { throw .tooLarge }
    if let expiration = header.expiration, expiration <= now { throw .expirationInThePast }
    guard questions[header.id] == nil else { throw .conflict }
    guard !limitsOff.contains(header.child) else { throw .limitsOff }
    let open = (self.open[header.child] ?? []).compactMap { questions[$0] }.filter {
      $0.isOpen(now)
    }
    guard open.count < Limits.openQuestions else { throw .tooMany }
    let isAsked = open.contains {
      !header.subjects.isEmpty && $0.header.subjects == header.subjects
        && $0.header.app == header.app
    }
    if isAsked { throw .alreadyAsked }
  }

  private func openQuestion(_ id: QuestionID, _ now: Instant) throws(Problem) -> Question {
    guard let question = questions[id] else { throw .unknown }
    switch question.phase {
    case .answered: throw .alreadyAnswered
    case .cancelled: throw .cancelled
    case .open where !question.isOpen(now): throw .expired
    case .open: return question
    }
  }

  private func ownOpenQuestion(_ id: QuestionID, _ person: Person?, _ now: Instant)
    throws(Problem) -> Question
  {
    guard let question = questions[id] else { throw .unknown }
    guard person?.id == question.header.child else { throw .notPermitted }
    return try openQuestion(id, now)
  }

  /// The event of the same question, asked before under another command's id.
  func known(_ command: Command, by device: DeviceID) -> UInt64? {
    let header: QuestionHeader
    switch command {
    case .ask(let asked, _): header = asked
    case .answerInPerson(let asked, _, _, _): header = asked
    default: return nil
    }
    guard let question = questions[header.id], question.header == header,
      roster.device(device)?.person == header.child
    else { return nil }
    return question.seq
  }

  private func check(_ content: Content) throws(Problem) {
    if case .sealed(let bytes) = content, bytes.count > Limits.contentBytes { throw .tooLarge }
  }
}
