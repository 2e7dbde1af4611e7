public import FamilyModel

extension FamilyState {
  /// Whether the signature is of the message, under the key.
  public typealias Verify =
    @Sendable (_ publicKey: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool

  /// The relay's cryptography.
  public struct Verifier: Sendable {
    private let verify: Verify
    let digest: @Sendable ([UInt8]) -> [UInt8]
    /// These functions.
    ///
    /// - Parameters:
    ///   - verify: Checks a signature.
    ///   - digest: The digest that devices sign; by default all of the bytes, for machines without keys.
    public init(
      _ verify: @escaping Verify, digest: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
    ) {
      self.verify = verify
      self.digest = digest
    }
    func callAsFunction(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool {
      verify(key, signature, message)
    }
  }

  /// What the command leads to, and who may see it. Nothing changes until the event is applied.
  ///
  /// - Parameters:
  ///   - id: The command's id, which is part of what the passcode signs for age settings.
  ///   - device: Who sent it; zero: the administrator.
  ///   - family: The family's number, which is part of what is signed.
  ///   - signed: The command's id and signature. The relay verifies those of rosters, which are few; all
  ///     others are verified by those who believe them.
  /// - Throws: the `Problem` for which the command is refused.
  public func decide(
    _ command: Command, id commandID: CommandID, by device: DeviceID, in family: FamilyID,
    signed: (id: CommandID, signature: Signature)? = nil, now: Instant, verify: Verifier
  ) throws(Problem) -> (body: Event.Body, audience: Audience) {
    let isAdministrator = device.rawValue == 0
    let person = roster.member(of: device)
    func require(_ isAllowed: Bool) throws(Problem) {
      guard isAllowed else { throw .notPermitted }
    }
    func child(_ id: PersonID) throws(Problem) {
      guard roster.role(of: id) == .child else { throw .unknown }
    }
    let isGuardian = person?.role.isGuardian ?? false
    switch command {
    case .setRoster(let next):
      try require(isAdministrator || isGuardian && signed != nil)
      try next.validate()
      try check(next, signed, in: family, verify)
      return (.rosterChanged(next), .family)
    case .setAccount(let id, let content):
      guard let owner = roster.person(id) else { throw .unknown }
      let isOwn = owner.role != .child && owner.id == person?.id && signed != nil
      try require(isAdministrator || isOwn || isGuardian && owner.role == .child)
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
      try decide(asking: header, now: now)
      return (.asked(header, content), .conversation(person.id))
    case .remind(let id):
      let question = try ownOpenQuestion(id, person, now: now)
      guard question.lastAsked + Limits.reminderInterval <= now else { throw .remindedRecently }
      return (.reminded(id), .conversation(question.header.child))
    case .cancel(let id):
      let question = try ownOpenQuestion(id, person, now: now)
      return (.cancelled(id), .conversation(question.header.child))
    case .answer(let id, let choiceID):
      try require(isGuardian)
      let question = try openQuestion(id, now: now)
      // The child may have left the family with the question open.
      try child(question.header.child)
      guard let choice = question.header.choice(choiceID) else { throw .unknown }
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
      try decide(asking: header, now: now)
      guard let passcode else { throw .noPasscode }
      let message = InPerson.signedBytes(family: family, header: header, choice: choiceID)
      guard verify(passcode.publicKey, proof, message) else { throw .noProof }
      guard let choice = header.choice(choiceID) else { throw .unknown }
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
      // In a family with keys, a guardian's device signs the roster itself.
      try require(isGuardian && !roster.isSigned)
      var roster = roster
      // Numbers are not given anew: what a person who left has said stays theirs.
      let id = PersonID(lastPerson.rawValue + 1)
      roster.persons.append(Person(id: id, role: .child, displayName: name))
      try roster.validate()
      return (.rosterChanged(roster), .family)
    case .invite(let invitation):
      guard let invited = roster.person(invitation.person) else { throw .unknown }
      try require(isGuardian && (invited.role != .organizer || person?.role == .organizer))
      guard invitation.key.count == 32, !invitations.holds(invitation.key) else { throw .conflict }
      guard invitation.expires > now else { throw .expirationInThePast }
      guard invitation.expires <= now + Limits.invitationTime else { throw .tooLarge }
      guard invitations.count(now) < Limits.invitations else { throw .tooMany }
      return (.invited(invitation), .family)
    case .noteAge(let owner, let content):
      try require(person?.id == owner)
      try check(content)
      return (.ageNoted(owner, content), .account(owner))
    case .setAge(let id, let content, let proof):
      guard let owner = roster.person(id) else { throw .unknown }
      try check(content)
      let isOwn = person?.id == id
      if isOwn, owner.role == .child {
        guard let passcode else { throw .noPasscode }
        let message = InPerson.signedBytes(family: family, child: id, command: commandID)
        guard verify(passcode.publicKey, proof, message) else { throw .noProof }
      } else {
        try require(isAdministrator || isOwn || isGuardian && owner.role == .child)
      }
      return (.ageSet(id, content, proof: proof), .account(id))
    case .shareKeys(let audience, let wraps):
      let isReader = person.map { roster.isMember($0, of: audience) } ?? false
      try require(isReader || isAdministrator && audience.accountPerson != nil)
      guard 1...Limits.keyWraps ~= wraps.count else { throw .tooMany }
      return (.keysShared(wraps), audience)
    }
  }

  /// A roster is signed by the organizer, or by a guardian of the one before it.
  private func check(
    _ next: Roster, _ signed: (id: CommandID, signature: Signature)?, in family: FamilyID,
    _ verify: Verifier
  ) throws(Problem) {
    guard roster.isSigned || next.isSigned else { return }
    guard let (id, signature) = signed,
      let key = rosterSeq == 0
        ? next.key(forFirstBy: signature.signer) : roster.key(forNext: next, by: signature.signer),
      verify(
        key, signature.bytes,
        SignedBytes.of(
          .rosterChanged(next), id, in: family, .family, by: signature.signer,
          seen: signature.seen, question: nil, digest: verify.digest, bytes: { _ in [] }))
    else { throw .notSigned }
    guard signature.seen >= rosterSeq else { throw .stale }
  }

  private func decide(asking header: QuestionHeader, now: Instant) throws(Problem) {
    try header.validate()
    if let expiration = header.expiration, expiration <= now { throw .expirationInThePast }
    guard !questions.holds(header.id), !closed.holds(header.id) else { throw .conflict }
    guard !limitsOff.contains(header.child) else { throw .limitsOff }
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
      throw closed.isAnswered ? .alreadyAnswered : .cancelled
    }
    guard question.isOpen(now) else { throw .expired }
    return question
  }

  private func ownOpenQuestion(_ id: QuestionID, _ person: Member?, now: Instant)
    throws(Problem) -> Question
  {
    guard let child = questions[id]?.header.child ?? closed[id]?.child else { throw .unknown }
    guard person?.id == child else { throw .notPermitted }
    return try openQuestion(id, now: now)
  }

  /// The event of the same question, asked before under another command's id.
  func known(_ command: Command, by device: DeviceID) -> UInt64? {
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

  private func check(_ content: Content) throws(Problem) {
    if case .sealed(let bytes) = content, bytes.count > Limits.contentBytes { throw .tooLarge }
  }
}
