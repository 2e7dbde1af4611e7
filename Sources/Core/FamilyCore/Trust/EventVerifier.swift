import FamilyModel

/// Verifies a family's events: the part of a device that trusts only the organizer's key, which the
/// device received when it joined. The organizer signed the first roster; a guardian of each roster
/// signed the next.
///
/// - verified: A member's device that may decide the event has signed it, the command is new, and
///   the content opens and agrees with the readable part.
/// - deferred: The signer knew a newer roster than this device, or another history. Or the content
///   key has not arrived.
/// - rejected: Every other event. A rejected event changes nothing.
///
/// An event of an unknown kind, or with an unknown content, is verified as far as all kinds agree: a
/// reader of the audience has signed it. Its body stays opaque.
struct EventVerifier: Sendable {
  /// The result of checking an event.
  enum Verdict {
    /// Valid; the event's content is open.
    case verified(Event)
    /// Not checkable before this arrives.
    case deferred(DeferredEvents.Need)
    /// Invalid.
    case rejected(Problem)
  }

  let vault: any DeviceVault
  let organizerKey: [UInt8]
  let family: FamilyID
  var ring = KeyRing()
  /// The chain of each audience as this device has read it. This device's signatures name the heads.
  var chains = SmallMap<Audience, AudienceChain>()
  /// Whether a signer of the last checked event knew another history than this device.
  var hasFork = false
  /// Whether any signer knew another history, so that this device's rosters may differ from others'.
  var hasSeenFork = false
  /// A verified roster.
  typealias CountedRoster = (
    position: ChainPosition, roster: Roster, name: CommandName, digest: ChainHash
  )

  /// The verified rosters in order. After a fork, several may have one position.
  var rosters: [CountedRoster] = []
  /// The rosters that the relay's present history lacks, or has with persons or devices that were
  /// removed.
  var lostRosters: Set<CommandName> = []
  /// The newest rosters of the relay's present history, with persons and devices that were removed. The
  /// relay has also rosters that this device does not verify: of a guardian whose removal it has lost.
  var shownRosters: [(seq: UInt64, roster: Roster, digest: ChainHash)] = []
  /// The keys that no later roster may contain.
  var removedKeys = RemovedKeys()
  /// The newest passcodes. A device may read an old conversation after the family's audience, so
  /// former passcodes still verify.
  var passcodes: [(order: StatementOrder, passcode: Passcode)] = []
  var invitations = KnownInvitations()
  /// The commands of verified events. A repetition at another position of the log is rejected. The
  /// set has 24 bytes for each event.
  var commands = PackedSet<CommandName>()
  /// The events that need something before they can be verified.
  var deferred = DeferredEvents()
  /// The evidence for the apps of a child's device; `nil` on devices without apps.
  var evidence: EvidenceArchive?

  var removals = Removals()
  /// The newest verified roster.
  var roster: Roster? { rosters.last?.roster }

  init(_ vault: any DeviceVault, organizerKey: [UInt8], family: FamilyID, hasApps: Bool = false) {
    self.vault = vault
    self.organizerKey = organizerKey
    self.family = family
    evidence = hasApps ? EvidenceArchive() : nil
  }

  /// Verifies an event at its position of the log, and keeps it if it is deferred.
  mutating func verify(_ event: Event, question: (QuestionID) -> QuestionState?) -> Verdict {
    // The relay names the sending device; only the signature proves the author.
    var event = event
    let claimed = event.device
    if let signature = event.signature { event.device = signature.signer }
    guard event.device == claimed || claimed.rawValue == 0 else { return .rejected(.notSigned) }
    let verdict = check(event, question)
    show(event)
    switch verdict {
    case .verified(let opened): complete(event, opened)
    case .rejected: break
    case .deferred(let need): deferred.insert(event, need)
    }
    return verdict
  }

  /// Checks the deferred events that are ready, in order of arrival, up to the first that is
  /// verified.
  ///
  /// - Returns: The events with their verdicts; only the last one may be verified.
  mutating func retryDeferred(question: (QuestionID) -> QuestionState?) -> [(Event, Verdict)] {
    var results: [(Event, Verdict)] = []
    while let entry = deferred.popReady() {
      let event = entry.event
      let verdict = check(event, question)
      switch verdict {
      case .deferred(let need): deferred.insert(entry, need)
      case .rejected:
        results.append((event, verdict))
        if let id = event.body.newQuestion?.id { deferred.release(.question(id)) }
      case .verified(let opened):
        complete(event, opened)
        // The caller applies this event first: later deferred events may depend on it.
        return results + [(event, verdict)]
      }
    }
    return results
  }

  /// The roster that was valid at the family's event; `nil` before the first one.
  func roster(at seq: UInt64) -> Roster? { rosters.last { $0.position.seq <= seq }?.roster }

  /// Whether this device has read no event that is, or may be, that of the command.
  func lacksEvent(of id: CommandID, by device: DeviceID) -> Bool {
    let name = CommandName(device, id)
    return !commands.contains(name) && !deferred.holds(name)
  }

  /// Whether this device has verified the event's command.
  func holds(_ event: Event) -> Bool { event.commandName.map(commands.contains) ?? false }

  private mutating func complete(_ event: Event, _ opened: Event) {
    let (digest, vault) = (rosterDigest(of: event), vault)
    record(opened, digest: digest)
    if opened.body.isOpaque {
      // Decisions about a question that this version cannot read are rejected.
      if let id = event.body.newQuestion?.id { deferred.release(.question(id)) }
      return
    }
    evidence?.add(event, vault)
    evidence?.add(event, digest: digest, vault)
    // The relay still has persons or devices that were removed.
    if event.isRoster, event.body != opened.body { lostRosters.insert(event.name) }
  }

  /// Records a verified event.
  ///
  /// - Parameter digest: The digest of a roster as its signer signed it. The event's roster may lack
  ///   persons and devices that were removed.
  mutating func record(_ event: Event, digest: ChainHash) {
    if case .joinRequested(let join) = event.body { return invitations.markUsed(by: join) }
    let name = event.name
    commands.insert(name)
    deferred.remove(name)
    if let id = event.body.newQuestion?.id { deferred.release(.question(id)) }
    guard event.audience == .family else { return }
    invitations.advance(to: event.command.time)
    if case .invited(let invitation) = event.body { invitations.add(invitation) }
    if case .rosterChanged(let roster) = event.body {
      invitations.removeEnrolled(in: roster)
      if let former = rosters.last?.roster {
        removedKeys.record(from: former, to: roster)
        ring.startEpoch(former.audiencesLeft(with: roster), with: event)
      } else {
        ring.found(at: event.at)
      }
      removals.record(from: self.roster, to: roster, event.signature?.known ?? Knowledge())
      rosters.append((event.position, roster, name, digest))
    }
    if case .passcodeChanged(let passcode) = event.body {
      passcodes.append((event.order, passcode))
      if passcodes.count > Limits.passcodes { passcodes.removeFirst() }
    }
  }

  // MARK: Checks

  private mutating func check(_ event: Event, _ question: (QuestionID) -> QuestionState?) -> Verdict
  {
    hasFork = false
    if case .joinRequested(let join) = event.body { return check(join, event) }
    guard let signature = event.signature else { return .rejected(.notSigned) }
    guard signature.basedOnSeq < event.seq, event.command.high >> 63 == 0,
      !commands.contains(event.name)
    else { return .rejected(.replayed) }
    guard event.hasTimelyID else { return .rejected(.earlyID()) }
    let history = compare(signature.known, event.audience)
    if history == .beyond { return .deferred(.family(seq: signature.basedOnSeq)) }
    hasFork = history == .differs
    if hasFork { hasSeenFork = true }
    // A reread may show that the signer was right.
    if hasFork, !mayPermitLess(event.body) { return .deferred(.history) }
    var header: QuestionHeader?
    if let id = event.body.laterQuestion {
      guard let state = question(id) else {
        return deferred.mayHold(id) ? .deferred(.question(id)) : .rejected(.unknown)
      }
      if state.phase != .open { return .rejected(.replayed) }
      header = state.header
      if case .decided(let decision) = event.body {
        guard state.header.choices.contains(decision.choice) else {
          return .rejected(.contradiction)
        }
        if state.header.hasExpired(at: event.command.time) { return .rejected(.expired) }
      }
    }
    if let new = event.body.newQuestion, question(new.id) != nil { return .rejected(.replayed) }
    if case .rosterChanged(let next) = event.body, let current = rosters.last?.roster {
      do throws(Problem) { try current.checkSuccessor(next) } catch { return .rejected(error) }
    }
    guard let key = key(for: event, signature) else {
      // A reread may show that the signer's roster came earlier, or the signer's removal later.
      return lostRosters.isEmpty && !hasFork ? .rejected(.notSigned) : .deferred(.history)
    }
    if event.isRoster {
      let former = signature.known.roster
      guard hasFork ? isKnown(former) : isShown(former, before: event.seq) else {
        return hasFork ? .deferred(.history) : .rejected(.forked)
      }
    }
    guard vault.verify(key, signature.bytes, signedBytes(event, signature, header)) else {
      return .rejected(.notSigned)
    }
    let verdict = open(event)
    if hasFork, case .verified(let opened) = verdict, !permitsLess(opened.body) {
      return .deferred(.history)
    }
    return verdict
  }

  /// Verifies the proof of a join request. The device joins only with a later roster.
  private func check(_ join: JoinRequest, _ event: Event) -> Verdict {
    guard event.audience == .family else { return .rejected(.replayed) }
    guard !join.hasWeakKey else { return .rejected(.weakKey) }
    if let problem = invitations.check(join, at: event.at) { return .rejected(problem) }
    guard vault.verify(join.invitation, join.proof, join.signedBytes(family: family)) else {
      return .rejected(.notSigned)
    }
    return .verified(event)
  }

  /// The roster that was in force at a position of the log.
  func roster(before seq: UInt64) -> Roster? { rosters.last { $0.position.seq < seq }?.roster }

  /// The signer's key; `nil` if the signer may not decide the event.
  private func key(for event: Event, _ signature: Signature) -> [UInt8]? {
    if case .rosterChanged(let next) = event.body {
      guard event.audience == .family, (try? next.validate()) != nil else { return nil }
      guard let (position, roster, _, _) = rosters.last else {
        let key = next.key(forFirstBy: signature.signer)
        return key == organizerKey ? key : nil
      }
      // The signer must know the current roster, so an old roster cannot be restored.
      return signature.basedOnSeq >= position.seq
        ? roster.key(forNext: next, by: signature.signer) : nil
    }
    return roster(before: event.seq).flatMap {
      removals.signingKey(for: event, by: signature.signer, in: $0)
    }
  }

  /// The passcode that counted before a position of the log.
  private func passcode(before seq: UInt64) -> Passcode? {
    passcodes.filter { $0.order.seq < seq }
      .reduce(into: Statements()) { $0.add($1.passcode, $1.order) }.current?.value
  }

  /// Checks a proof of the passcode that was valid at the event's position.
  ///
  /// - Returns: `nil` for a valid proof.
  private func check(_ proof: [UInt8], of message: [UInt8], _ event: Event) -> Problem? {
    guard let passcode = passcode(before: event.seq), !passcode.isOutdated,
      vault.verify(passcode.publicKey, proof, message)
    else { return .noProof }
    do throws(Problem) { try InPerson.check(timeOf: event.command, at: event.at) } catch {
      return error
    }
    return nil
  }

  private func digest(of event: Event) -> [UInt8] {
    event.body.content?.proofDigest { vault.digest($0) } ?? []
  }

  private mutating func open(_ event: Event) -> Verdict {
    switch event.body {
    case .rosterChanged(let next):
      let last = rosters.last
      let current = last?.roster ?? Roster()
      let kept = withoutRemoved(next)
      do throws(Problem) {
        try current.checkSuccessor(kept)
        // The present history may have another roster than the one that this device verified.
        if !isRosterLost, relation(of: last?.position ?? ChainPosition(), .family) == .known {
          try current.checkRemoval(in: kept)
        }
        try removedKeys.check(current, next: kept)
      } catch { return .rejected(error) }
      var event = event
      event.body = .rosterChanged(kept)
      return .verified(event)
    case .keysShared(let wraps):
      do throws(Problem) { try learn(wraps, from: event) } catch { return .rejected(error) }
    case .complained(let keys):
      do throws(Problem) { try complain(keys, from: event) } catch { return .rejected(error) }
    case .answeredInPerson(let header, _, let decision, let proof):
      let message = InPerson.signedBytes(
        family: family, command: event.command, header: header, choice: decision.choice.id,
        content: digest(of: event))
      if header.hasExpired(at: event.command.time) { return .rejected(.expired) }
      guard header.choices.contains(decision.choice) else { return .rejected(.noProof) }
      if let problem = check(proof, of: message, event) { return .rejected(problem) }
    case .ageSet(let owner, _, let proof), .settingsChanged(let owner, _, let proof):
      guard let roster = roster(before: event.seq),
        roster.person(owner)?.role == .child,
        let signer = event.signature?.signer, roster.device(signer)?.person == owner
      else { break }
      let message = InPerson.signedBytes(
        family: family, command: event.command, child: owner, content: digest(of: event))
      if let problem = check(proof, of: message, event) { return .rejected(problem) }
    default: break
    }
    guard let content = event.body.content else { return .verified(event) }
    // The relay could otherwise take back a withdrawal by erasing it.
    if event.body.isErased {
      return event.body.mayBeErased ? .verified(event) : .rejected(.cannotOpen)
    }
    guard let name = vault.keyName(of: content) else { return .rejected(.cannotOpen) }
    guard let secret = ring.secret(name, event.audience) else {
      return .deferred(.key(event.audience, name))
    }
    let binding = Self.binding(family, event.audience, event.command)
    guard let opened = vault.open(content, vault.contentKey(secret, binding), binding: binding)
    else { return .rejected(.cannotOpen) }
    if case .sealed(let bytes) = opened { return .verified(event.withNewerContent(bytes)) }
    guard event.body.fits(opened) else { return .rejected(.cannotOpen) }
    if let header = event.body.newQuestion, case .question(let question) = opened,
      !question.fits(header, subjects: subjects(of: question, in: header.app, secret))
    {
      return .rejected(.contradiction)
    }
    var event = event
    event.body = event.body.replacing(opened)
    return .verified(event)
  }

  // MARK: Signing

  /// The bytes that the event's signer signed.
  func signedBytes(_ event: Event, _ signature: Signature, _ header: QuestionHeader?) -> [UInt8] {
    SignedBytes.of(
      event.body, event.command, in: family, event.audience, by: signature.signer,
      knowing: signature.known, question: header, digest: { vault.digest($0) },
      bytes: vault.bytes)
  }

  /// The bytes that a content is bound to. A content cannot be moved to another event.
  static func binding(_ family: FamilyID, _ audience: Audience, _ command: CommandID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay content 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(command)
    return bytes.bytes
  }

  /// The digest of a question's subjects: equal for the same people in one app, and opaque without
  /// the key. A guardian's decision signs it.
  func subjects(of question: Question, in app: AppID, _ secret: [UInt8]) -> [UInt8] {
    vault.subjects(vault.tags(of: question, in: app, secret))
  }

  /// Signs the event that the command produces.
  func sign(
    _ command: CommandID, _ audience: Audience, _ body: Event.Body, by device: DeviceID,
    question: QuestionHeader?
  ) -> Signature {
    let known = knowledge(for: body, in: audience, of: device)
    let bytes = SignedBytes.of(
      body, command, in: family, audience, by: device, knowing: known, question: question,
      digest: { vault.digest($0) }, bytes: vault.bytes)
    return Signature(signer: device, knowing: known, bytes: vault.sign(bytes))
  }
}

extension Question {
  /// Whether the header, which the relay reads, agrees with the question.
  fileprivate func fits(_ header: QuestionHeader, subjects: [UInt8]) -> Bool {
    id == header.id && expiration == header.expiration && subjects == header.subjects
      && choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) } == header.choices
  }
}

extension Event {
  /// Whether the relay's rule permits the command's id: no relay may have accepted an earlier one.
  var hasTimelyID: Bool { command.time <= at + Limits.idLead }

  /// The time of the signer's clock, or the relay's if that is earlier. Devices show this time and
  /// date approvals with it, so neither clock alone lengthens an approval. A relay that states a far
  /// earlier time makes the id untimely.
  var signedAt: Instant {
    signature == nil ? at : min(at, command.time)
  }
}
