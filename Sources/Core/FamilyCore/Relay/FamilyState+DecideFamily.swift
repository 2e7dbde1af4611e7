import FamilyModel

/// Decisions about members, settings and keys.
extension FamilyState {
  func decide(roster next: Roster, _ proposal: Proposal, _ verify: Verifier) throws(Problem)
    -> Outcome
  {
    try require(
      proposal.isAdministrator || proposal.isGuardian && proposal.signature != nil)
    try next.validate()
    try roster.checkSuccessor(next)
    try verifySignature(of: next, proposal, verify)
    // The signer may have merged its change into another roster: it reads, and signs again.
    try checkKnowledge(proposal.signature, .family)
    try roster.checkRemoval(in: next)
    try removedKeys.check(roster, next: next)
    try checkRemovals(in: next, proposal.signature)
    return (.rosterChanged(next), .family)
  }

  /// Verifies a roster's signature: by the organizer for the first roster, by a guardian of the
  /// previous roster for later ones.
  private func verifySignature(of next: Roster, _ proposal: Proposal, _ verify: Verifier)
    throws(Problem)
  {
    guard roster.isSigned || next.isSigned else { return }
    guard let signature = proposal.signature,
      let key = rosterSeq == 0
        ? next.key(forFirstBy: signature.signer) : roster.key(forNext: next, by: signature.signer),
      verify(
        key, signature.bytes,
        SignedBytes.of(
          .rosterChanged(next), proposal.id, in: proposal.family, .family, by: signature.signer,
          knowing: signature.known, question: nil, digest: verify.digest, bytes: { _ in [] }))
    else { throw .notSigned }
    guard signature.basedOnSeq >= rosterSeq else { throw .stale }
    guard signature.known.roster == rosterDigest(in: proposal.family, verify) else { throw .forked }
  }

  /// The digest of the current roster; zero before the first one.
  private func rosterDigest(in family: FamilyID, _ verify: Verifier) -> ChainHash {
    guard rosterSeq > 0 else { return ChainHash() }
    return SignedBytes.digest(
      of: roster, rosterCommand, in: family, by: rosterSigner,
      hiddenDigest: verify.digest(roster.hiddenBytes), verify.digest)
  }

  func decide(account id: PersonID, _ content: Content, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    guard let owner = roster.person(id) else { throw .unknown }
    let isOwn =
      owner.role != .child && owner.id == proposal.person?.id && proposal.signature != nil
    try require(
      proposal.isAdministrator || isOwn || proposal.isGuardian && owner.role == .child)
    try check(content)
    return (.accountChanged(id, content), .account(id))
  }

  func decide(limits child: PersonID, on: Bool, _ proposal: Proposal) throws(Problem) -> Outcome {
    try requireChild(child)
    try require(proposal.isAdministrator || proposal.isGuardian)
    return (.limitsChanged(child: child, on: on), .conversation(child))
  }

  func decide(post child: PersonID, _ content: Content, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    try requireChild(child)
    try require(proposal.isGuardian || proposal.person?.id == child)
    try check(content)
    return (.posted(child: child, content), .conversation(child))
  }

  func decide(contact child: PersonID, _ content: Content, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    try requireChild(child)
    try require(proposal.isGuardian)
    try check(content)
    return (.contactChanged(child: child, content), .conversation(child))
  }

  func decide(withdrawal child: PersonID, _ content: Content, _ proposal: Proposal)
    throws(Problem) -> Outcome
  {
    try requireChild(child)
    try require(proposal.isGuardian)
    try check(content)
    return (.withdrawn(child: child, content), .conversation(child))
  }

  func decide(passcode: Passcode, _ proposal: Proposal) throws(Problem) -> Outcome {
    try require(proposal.isGuardian)
    // The relay keeps the secret of one passcode only, so passcodes are never concurrent.
    if let signature = proposal.signature, let current = passcodes.current,
      signature.basedOnSeq < current.order.seq
    {
      throw .stale
    }
    return (.passcodeChanged(passcode), .family)
  }

  func decide(newChild name: String, _ proposal: Proposal) throws(Problem) -> Outcome {
    // In a family with keys, a guardian's device signs the new roster instead.
    try require(proposal.isGuardian && !roster.isSigned)
    var roster = roster
    // A former member's number is never reused, because the member's events carry it.
    let id = PersonID(lastPerson.rawValue + 1)
    roster.persons.append(Person(id: id, role: .child, displayName: name))
    try roster.validate()
    return (.rosterChanged(roster), .family)
  }

  func decide(invitation: Invitation, _ proposal: Proposal) throws(Problem) -> Outcome {
    guard let invited = roster.person(invitation.person) else { throw .unknown }
    try require(
      proposal.isGuardian
        && (invited.role != .organizer || proposal.person?.role == .organizer))
    guard !LowOrder.isSigningKey(invitation.key) else { throw .weakKey }
    guard invitation.key.count == 32, !invitations.holds(invitation.key) else { throw .conflict }
    guard invitation.expires > proposal.now else { throw .expirationInThePast }
    guard invitation.expires <= proposal.now + Limits.invitationTime else { throw .tooLarge }
    guard invitations.count(proposal.now) < Limits.invitations else { throw .tooMany }
    return (.invited(invitation), .family)
  }

  func decide(ageNote owner: PersonID, _ content: Content, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    try require(proposal.person?.id == owner)
    try check(content)
    return (.ageNoted(owner, content), .account(owner))
  }

  func decide(
    ageSettings id: PersonID, _ content: Content, proof: [UInt8], _ proposal: Proposal,
    _ verify: Verifier
  ) throws(Problem) -> Outcome {
    guard let owner = roster.person(id) else { throw .unknown }
    try check(content)
    let isOwn = proposal.person?.id == id
    if isOwn, owner.role == .child {
      let message = InPerson.signedBytes(
        family: proposal.family, command: proposal.id, child: id,
        content: verify.digest(of: content))
      try check(proof, of: message, proposal, verify)
    } else {
      try require(
        proposal.isAdministrator || isOwn || proposal.isGuardian && owner.role == .child)
    }
    return (.ageSet(id, content, proof: proof), .account(id))
  }

  func decide(
    settings child: PersonID, _ content: Content, proof: [UInt8], _ proposal: Proposal,
    _ verify: Verifier
  ) throws(Problem) -> Outcome {
    try requireChild(child)
    try check(content)
    if proposal.person?.id == child {
      let message = InPerson.signedBytes(
        family: proposal.family, command: proposal.id, child: child,
        content: verify.digest(of: content))
      try check(proof, of: message, proposal, verify)
    } else {
      try require(proposal.isAdministrator || proposal.isGuardian)
    }
    return (.settingsChanged(child, content, proof: proof), .account(child))
  }

  func decide(keys wraps: [KeyWrap], _ audience: Audience, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    let isReader = proposal.person.map { roster.isMember($0, of: audience) } ?? false
    try require(isReader || proposal.isAdministrator && audience.accountPerson != nil)
    guard 1...Limits.keyWraps ~= wraps.count else { throw .tooMany }
    try roster.check(wraps, in: audience)
    let maker = proposal.signature?.signer ?? proposal.device
    guard
      (keys[audience] ?? AudienceKeys(since: founded))
        .mayShare(wraps, by: maker, now: proposal.now)
    else { throw .tooManyKeys }
    return (.keysShared(wraps), audience)
  }

  func decide(complaint keys: [ContentKeyID], _ audience: Audience, _ proposal: Proposal)
    throws(Problem) -> Outcome
  {
    try require(proposal.person.map { roster.isMember($0, of: audience) } ?? false)
    try keys.validateComplaint()
    return (.complained(keys), audience)
  }

  /// A beat names heads of which the relay has the hashes, so that no reader waits for events that do
  /// not exist.
  func decide(beatBy proposal: Proposal) throws(Problem) -> Outcome {
    try require(proposal.isGuardian && roster.isSigned)
    for head in proposal.signature?.known.heads ?? [] {
      guard head.position.seq <= self.head(head.audience) else { throw .forked }
    }
    return (.beat, .family)
  }

  /// Accepts a statement of a kind that the relay does not know. The event gets a place in the order of
  /// its audience, and changes nothing that the relay enforces.
  func decide(opaque body: OpaqueBody, _ audience: Audience, _ proposal: Proposal) throws(Problem)
    -> Outcome
  {
    guard body.isStatement else { throw .unknownRequest }
    try require(proposal.person.map { roster.isMember($0, of: audience) } ?? false)
    guard body.bytes.count <= Limits.opaqueBytes else { throw .tooLarge }
    return (.opaque(body), audience)
  }
}

extension [ContentKeyID] {
  /// Checks the number of keys that a complaint names.
  ///
  /// - Throws: `tooMany`.
  func validateComplaint() throws(Problem) {
    guard 1...Limits.complaintKeys ~= count else { throw .tooMany }
  }
}
