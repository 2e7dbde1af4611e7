import FamilyModel

/// What a device believes of what the relay hands it, and why: the rosters, each signed by a guardian of the
/// one before, back to the key of the organizer that the device was given when it joined.
///
/// An event is believed when a device that was in the family, and may decide it, has signed it; when its
/// command was not there before; and when what is sealed in it opens, and says what its readable part says.
/// What cannot be told yet is kept aside: the signer knew a roster that has not come here, or the key is on
/// its way. Everything else changes nothing.
struct EventVerifier: Sendable {
  enum Finding {
    /// Believed; its content is open.
    case good(Event)
    /// Not to be told yet.
    case aside
    /// Not believed.
    case bad(Problem)
  }

  let vault: any DeviceVault
  let organizerKey: [UInt8]
  let family: FamilyID
  var ring = KeyRing()
  /// The last event of the family's audience that was believed: what own signatures have seen.
  private(set) var seen: UInt64 = 0
  private var rosters: [(seq: UInt64, roster: Roster)] = []
  private var passcodes: [(seq: UInt64, command: CommandID, passcode: Passcode)] = []
  /// Those that a guardian signed, by their keys.
  private(set) var invitations: [[UInt8]: Invitation] = [:]
  /// Each command counts once, under whatever place in the log it comes again.
  private var taken: Set<CommandID> = []
  /// In the order in which they came.
  private(set) var aside: [Event] = []
  /// For the apps of a child's device; others show nothing to anybody.
  private(set) var evidence: EvidenceFile?

  init(_ vault: any DeviceVault, organizerKey: [UInt8], family: FamilyID, hasApps: Bool = false) {
    self.vault = vault
    self.organizerKey = organizerKey
    self.family = family
    evidence = hasApps ? EvidenceFile() : nil
  }

  /// Takes an event in its place; what is aside is kept here.
  mutating func take(_ event: Event, question: (QuestionID) -> QuestionState?) -> Finding {
    let finding = check(event, question)
    switch finding {
    case .good(let opened):
      believe(opened)
      keep(event)
    case .bad: break
    // What is beyond the limit is on the disk as well, and is looked at when the device starts again.
    case .aside: if aside.count < Limits.aside { aside.append(event) }
    }
    return finding
  }

  /// Looks again at what is aside, once, in the order in which it came.
  mutating func takeAside(question: (QuestionID) -> QuestionState?) -> [(Event, Problem?)] {
    let waiting = aside
    aside = []
    var results: [(Event, Problem?)] = []
    for (index, event) in waiting.enumerated() {
      switch check(event, question) {
      case .aside: aside.append(event)
      case .bad(let problem): results.append((event, problem))
      case .good(let opened):
        believe(opened)
        keep(event)
        // What it changed may be what the next one waits for.
        aside += waiting[(index + 1)...]
        return results + [(opened, nil)]
      }
    }
    return results
  }

  private mutating func keep(_ event: Event) {
    let vault = vault
    evidence?.keep(event, vault)
  }

  // MARK: the checks

  private mutating func check(_ event: Event, _ question: (QuestionID) -> QuestionState?) -> Finding
  {
    if case .joinRequested(let join) = event.body { return check(join, event) }
    guard let signature = event.signature,
      event.device == signature.signer || event.device.rawValue == 0
    else { return .bad(.notSigned) }
    // Times beyond the year 6000 would leave no room for anything later.
    guard signature.seen < event.seq, event.command.high >> 63 == 0,
      !taken.contains(event.command)
    else { return .bad(.replayed) }
    if signature.seen > seen { return .aside }
    var header: QuestionHeader?
    if let id = event.body.laterQuestion {
      guard let state = question(id) else {
        let waits = aside.contains { $0.body.newQuestion?.id == id }
        return waits ? .aside : .bad(.unknown)
      }
      if state.phase != .open { return .bad(.replayed) }
      header = state.header
      if case .decided(let decision) = event.body, !state.header.choices.contains(decision.choice) {
        return .bad(.contradiction)
      }
    }
    if let new = event.body.newQuestion, question(new.id) != nil { return .bad(.replayed) }
    guard let key = key(for: event, signature) else { return .bad(.notSigned) }
    let bytes = SignedBytes.of(
      event.body, event.command, in: family, event.audience, by: signature.signer,
      seen: signature.seen, question: header, digest: { vault.digest($0) }, bytes: vault.bytes)
    guard vault.verify(key, signature.bytes, bytes) else { return .bad(.notSigned) }
    return open(event)
  }

  /// Whoever has the code of an invitation made it, with these keys. It adds nobody to the family.
  private func check(_ join: JoinRequest, _ event: Event) -> Finding {
    guard event.audience == .family, !taken.contains(event.command) else { return .bad(.replayed) }
    guard invitations[join.invitation] != nil,
      vault.verify(join.invitation, join.proof, join.signedBytes(family: family))
    else { return .bad(.notSigned) }
    return .good(event)
  }

  /// The key of the signer, if it may say this.
  private func key(for event: Event, _ signature: Signature) -> [UInt8]? {
    if case .rosterChanged(let next) = event.body {
      guard event.audience == .family, (try? next.validate()) != nil else { return nil }
      guard let (seq, roster) = rosters.last else {
        let key = next.key(forFirstBy: signature.signer)
        return key == organizerKey ? key : nil
      }
      // Who changes the family has seen it as it is: a roster of the past cannot come back.
      return signature.seen >= seq ? roster.key(forNext: next, by: signature.signer) : nil
    }
    guard let roster = rosters.last(where: { $0.seq < event.seq })?.roster,
      let device = roster.device(signature.signer), !device.signingKey.isEmpty,
      let person = roster.person(device.person),
      roster.mayDecide(event.body, in: event.audience, person)
    else { return nil }
    return device.signingKey
  }

  private mutating func open(_ event: Event) -> Finding {
    switch event.body {
    case .keysShared(let wraps):
      _ = ring.learn(wraps, event.audience, in: family, isShared: true, vault)
    case .passcodeChanged:
      if let last = passcodes.last, event.command < last.command { return .bad(.replayed) }
    case .answeredInPerson(let header, _, let decision, let proof):
      let message = InPerson.signedBytes(
        family: family, header: header, choice: decision.choice.id)
      guard header.choices.contains(decision.choice),
        let passcode = passcodes.last(where: { $0.seq < event.seq })?.passcode,
        vault.verify(passcode.publicKey, proof, message)
      else { return .bad(.noProof) }
    case .ageSet(let owner, _, let proof):
      guard let roster = rosters.last(where: { $0.seq < event.seq })?.roster,
        roster.person(owner)?.role == .child,
        let signer = event.signature?.signer, roster.device(signer)?.person == owner
      else { break }
      let message = InPerson.signedBytes(family: family, child: owner, command: event.command)
      guard let passcode = passcodes.last(where: { $0.seq < event.seq })?.passcode,
        vault.verify(passcode.publicKey, proof, message)
      else { return .bad(.noProof) }
    default: break
    }
    guard let content = event.body.content else { return .good(event) }
    guard let name = vault.keyName(of: content) else { return .bad(.cannotOpen) }
    guard let secret = ring.secret(name, event.audience) else { return .aside }
    let binding = Self.binding(family, event.audience, event.command)
    guard
      let opened = vault.open(content, vault.contentKey(secret, binding), binding: binding),
      event.body.fits(opened)
    else { return .bad(.cannotOpen) }
    if let header = event.body.newQuestion, case .question(let question) = opened,
      !question.fits(header, subjects: subjects(of: question, in: header.app, secret))
    {
      return .bad(.contradiction)
    }
    var event = event
    event.body = event.body.replacing(opened)
    return .good(event)
  }

  private mutating func believe(_ event: Event) {
    taken.insert(event.command)
    guard event.audience == .family else { return }
    seen = max(seen, event.seq)
    if case .invited(let invitation) = event.body {
      invitations[invitation.key] = invitation
    }
    if case .rosterChanged(let roster) = event.body { rosters.append((event.seq, roster)) }
    if case .passcodeChanged(let passcode) = event.body {
      passcodes.append((event.seq, event.command, passcode))
    }
  }

  // MARK: making

  /// What a content is bound to: nobody can put it into another place.
  static func binding(_ family: FamilyID, _ audience: Audience, _ command: CommandID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay content 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(command)
    return bytes.bytes
  }

  /// What tells questions about the same people in one app from others, and says to nobody without the key
  /// who they are (A6). It is part of what a guardian signs.
  func subjects(of question: Question, in app: AppID, _ secret: [UInt8]) -> [UInt8] {
    vault.subjects(vault.tags(of: question, in: app, secret))
  }

  /// The signature of what the command leads to.
  func sign(
    _ command: CommandID, _ audience: Audience, _ body: Event.Body, by device: DeviceID,
    question: QuestionHeader?
  ) -> Signature {
    let bytes = SignedBytes.of(
      body, command, in: family, audience, by: device, seen: seen, question: question,
      digest: { vault.digest($0) }, bytes: vault.bytes)
    return Signature(signer: device, seen: seen, bytes: vault.sign(bytes))
  }
}

extension Question {
  /// Whether the header, which the relay reads, says of the question what is so.
  fileprivate func fits(_ header: QuestionHeader, subjects: [UInt8]) -> Bool {
    id == header.id && expiration == header.expiration && subjects == header.subjects
      && choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) } == header.choices
  }
}

extension Event {
  /// By which of two changes of one thing the later is known: the signer's own time, which no relay can
  /// change; in a family without keys, the relay's order.
  var stamp: ID128 { signature == nil ? ID128(high: seq, low: 0) : command }
}
