import FamilyModel

extension FamilyState {
  /// The circumstances of a command.
  struct Proposal {
    /// The command's id. The passcode's key signs it for age settings.
    var id: CommandID
    /// The sending device; zero: the administrator.
    var device: DeviceID
    /// The device's owner; `nil`: the administrator.
    var person: Member?
    var family: FamilyID
    var signature: Signature?
    var now: Instant

    /// The later one of the relay's time and the sender's. Devices compare a question's expiration
    /// with the sender's time.
    var expirationTime: Instant { max(now, id.time) }
    var isAdministrator: Bool { device.rawValue == 0 }
    var isGuardian: Bool { person?.role.isGuardian ?? false }
  }

  /// The change that a command makes, and its readers.
  typealias Outcome = (body: Event.Body, audience: Audience)

  /// Decides a command by the family's rules. The state changes only when the event is applied.
  ///
  /// The relay verifies the signatures of rosters and the proofs of the passcode, which are rare.
  /// Readers verify all signatures.
  ///
  /// - Throws: the `Problem` for which the command is refused.
  func decide(_ command: Command, _ proposal: Proposal, verify: Verifier) throws(Problem) -> Outcome
  {
    switch command {
    case .setRoster(let next): try decide(roster: next, proposal, verify)
    case .setAccount(let id, let content): try decide(account: id, content, proposal)
    case .setLimits(let id, let on): try decide(limits: id, on: on, proposal)
    case .ask(let header, let content): try decide(question: header, content, proposal)
    case .remind(let id): try decide(reminder: id, proposal)
    case .cancel(let id): try decide(cancellation: id, proposal)
    case .answer(let id, let choice): try decide(answer: id, choice, proposal)
    case .post(let id, let content): try decide(post: id, content, proposal)
    case .changeContact(let id, let content): try decide(contact: id, content, proposal)
    case .setPasscode(let passcode): try decide(passcode: passcode, proposal)
    case .answerInPerson(let header, let content, let choice, let proof):
      try decide(inPerson: header, content, choice, proof: proof, proposal, verify)
    case .withdraw(let id, let content): try decide(withdrawal: id, content, proposal)
    case .addChild(let name): try decide(newChild: name, proposal)
    case .invite(let invitation): try decide(invitation: invitation, proposal)
    case .noteAge(let owner, let content): try decide(ageNote: owner, content, proposal)
    case .setAge(let id, let content, let proof):
      try decide(ageSettings: id, content, proof: proof, proposal, verify)
    case .changeSettings(let child, let content, let proof):
      try decide(settings: child, content, proof: proof, proposal, verify)
    case .shareKeys(let audience, let wraps): try decide(keys: wraps, audience, proposal)
    case .complain(let audience, let keys): try decide(complaint: keys, audience, proposal)
    case .beat: try decide(beatBy: proposal)
    case .opaque(let audience, let body): try decide(opaque: body, audience, proposal)
    }
  }

  // MARK: Checks

  /// Refuses a signature whose signer reads another history than the relay has. Readers would
  /// reject the command.
  ///
  /// The relay knows only the newest hash. Readers also compare older ones.
  ///
  /// - Throws: `forked`. The device then reads the history again and signs again.
  func checkKnowledge(_ signature: Signature?, _ audience: Audience) throws(Problem) {
    guard let known = signature?.known else { return }
    try check(known.family, .family)
    try check(known.audience, audience)
    for head in known.heads { try check(head.position, head.audience) }
  }

  private func check(_ known: ChainPosition, _ audience: Audience) throws(Problem) {
    guard !known.hash.isZero else { return }
    let head = position(audience)
    guard known.seq < head.seq || known == head else { throw .forked }
  }

  /// Refuses a signature whose signer did not know the present roster, and a roster whose signer did
  /// not know the family's newest event with its hash.
  ///
  /// A reader of one audience may not have the present roster yet. If the signer's right began with
  /// it, that reader would reject the event, and the others would not. The relay cannot compare an
  /// older hash. Readers would defer a roster for a wrong one, and the relay would refuse the rosters
  /// that they sign from then on.
  ///
  /// - Throws: `stale`. The device reads, and signs again.
  func checkNewest(_ command: Command, _ signature: Signature?) throws(Problem) {
    guard rosterSeq > 0, let known = signature?.known.family else { return }
    if case .setRoster = command {
      guard known == position(.family) else { throw .stale }
    } else {
      guard known.seq >= rosterSeq else { throw .stale }
    }
  }

  func require(_ isAllowed: Bool) throws(Problem) {
    guard isAllowed else { throw .notPermitted }
  }

  func requireChild(_ id: PersonID) throws(Problem) {
    guard roster.role(of: id) == .child else { throw .unknown }
  }

  /// Checks a proof of the family's passcode.
  ///
  /// - Throws: `noPasscode`, `passcodeOutdated`, `noProof` or `proofOutdated`.
  func check(
    _ proof: [UInt8], of message: [UInt8], _ proposal: Proposal, _ verify: Verifier
  ) throws(Problem) {
    guard let passcode else { throw .noPasscode }
    guard !passcode.isOutdated else { throw .passcodeOutdated }
    guard verify(passcode.publicKey, proof, message) else { throw .noProof }
    try InPerson.check(timeOf: proposal.id, at: proposal.now)
  }

  func check(_ content: Content) throws(Problem) {
    if case .sealed(let bytes) = content, bytes.count > Limits.contentBytes { throw .tooLarge }
  }
}
