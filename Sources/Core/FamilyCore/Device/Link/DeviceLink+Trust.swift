public import FamilyModel

/// A command as it goes to the relay: sealed and signed.
public struct SignedCommand: Sendable {
  /// Its id.
  public var id: CommandID
  /// What is asked for, with its content sealed.
  public var command: Command
  /// By this device.
  public var signature: Signature?
}

extension DeviceLink {
  enum SealOutcome {
    /// To be sent like this.
    case ready(SignedCommand)
    /// First these keys have to be at the relay.
    case share(Audience, [KeyWrap])
    /// The family, or a key, is still on its way.
    case notYet
    /// It is about a question that this device does not have, so that it cannot sign what becomes of it.
    case unknownQuestion
  }

  /// How often a question is looked for, with growing delays, before a command about it is given up.
  static let attemptsForQuestion = 6

  /// Seals the command for those who may read it, and signs it.
  mutating func sealAndSign(_ id: CommandID, _ command: Command) -> SealOutcome {
    guard var trust else { return .ready(SignedCommand(id: id, command: command)) }
    guard !isBehind else { return .notYet }
    var command = command
    if case .addChild(let name) = command {
      guard trust.seen > 0 else { return .notYet }
      command = .setRoster(roster(adding: name, as: .child))
    }
    func header(_ id: QuestionID) -> QuestionHeader? { question(id)?.header }
    guard let audience = command.outcome(question: header)?.audience else {
      // The relay may have the question, and would take the command: unsigned, nobody would believe it.
      return .unknownQuestion
    }
    if let content = command.content {
      guard trust.seen > 0 else { return .notYet }
      let readers = roster.readers(of: audience)
      guard let key = trust.ring.usable(audience, for: readers), let secret = key.secret else {
        let wraps = trust.ring.make(audience, for: readers, in: trust.family, trust.vault)
        self.trust = trust
        return .share(audience, wraps)
      }
      guard key.isShared else { return .notYet }
      var subjects: [UInt8] = []
      if case .question(let question) = content, let app = command.app {
        subjects = trust.subjects(of: question, in: app, secret)
      }
      let binding = EventVerifier.binding(trust.family, audience, id)
      let sealed = trust.vault.seal(
        content, key.name, trust.vault.contentKey(secret, binding), binding: binding)
      command = command.replacing(sealed, subjects: subjects)
    }
    guard let (_, body) = command.outcome(question: header) else { return .notYet }
    let signature = trust.sign(
      id, audience, body, by: address.device, question: body.laterQuestion.flatMap(header))
    return .ready(SignedCommand(id: id, command: command, signature: signature))
  }

  /// The command, and before it what is needed to read it, for whoever visits the relay beside the device,
  /// or brings in the family for it.
  ///
  /// - Throws: `stale` where this device does not know the family well enough.
  mutating func prepare(_ command: Command, id: CommandID?, now: Instant) throws(Problem)
    -> [SignedCommand]
  {
    var prepared: [SignedCommand] = []
    let id = id ?? nextID(now)
    while true {
      switch sealAndSign(id, command) {
      case .ready(let ready): return prepared + [ready]
      case .notYet: throw .stale
      case .unknownQuestion: throw .unknown
      case .share(let audience, let wraps):
        guard !wraps.isEmpty,
          case .ready(let share) = sealAndSign(nextID(now), .shareKeys(audience, wraps))
        else { throw .stale }
        prepared.append(share)
        learn(wraps, audience, isShared: true)
      }
    }
  }

  /// Sends what is due. What lacks a key makes one, and waits until the relay has it. A question asks for its
  /// turn first: until then it costs no seal, no signature and no key.
  mutating func sendDue(_ now: Instant, into out: inout Output) {
    for pending in outbox.takeDue(now) {
      guard pending.mayGo else {
        out.sends.append(.wantsToAsk(pending.id))
        continue
      }
      switch sealAndSign(pending.id, pending.command) {
      case .ready(let ready): request(ready, attempt: pending.attempts, into: &out)
      case .notYet: isWaiting = true
      case .unknownQuestion:
        // The question may be on its way; one that does not come is none.
        if pending.attempts < Self.attemptsForQuestion { isWaiting = true; break }
        settle(pending.id, .unknown, now: now, into: &out)
      case .share(let audience, let wraps):
        guard isReader(of: audience) else {
          // Nobody would take keys from this device, so there is nothing to wait for.
          settle(pending.id, .notPermitted, now: now, into: &out)
          break
        }
        isWaiting = true
        share(wraps, audience, now: now, into: &out)
      }
    }
  }

  /// Gives the keys to devices that came after them, if it is this device's turn.
  mutating func shareWithNewcomers(_ now: Instant, into out: inout Output) {
    guard mayShare, let trust, let person = roster.person(personID) else {
      return
    }
    var next: Instant?
    for audience in roster.audiences(of: person) {
      let readers = roster.readers(of: audience)
      let lacking = trust.ring.lacking(
        audience, readers, in: trust.family, trust.vault, most: Limits.keyWraps)
      guard !lacking.isEmpty else { continue }
      // The first of those who have the keys gives them at once; the others only if that does not happen.
      let holders = readers.filter { reader in
        lacking.contains { $0.entry.readers.contains(reader.agreementKey) }
      }
      let rank = holders.firstIndex { $0.id == address.device } ?? holders.count
      let since = newcomersSince ?? now
      newcomersSince = since
      let due = since + Int64(rank) * Timing.shareTurn
      if due > now {
        next = min(next ?? due, due)
        continue
      }
      let wraps = lacking.compactMap { entry, reader in
        trust.vault.wrap(
          entry.secret ?? [], for: reader.agreementKey,
          binding: KeyRing.binding(trust.family, audience, entry.name)
        ).map { KeyWrap(key: entry.name, reader: reader.agreementKey, bytes: $0) }
      }
      share(wraps, audience, now: now, into: &out)
      learn(wraps, audience, isShared: false)
    }
    if next == nil { newcomersSince = nil }
    newcomersDue = next
  }

  /// Whether this device may read what it is about to seal. One that is in no roster may be taken in again.
  private func isReader(of audience: Audience) -> Bool {
    roster.owner(of: address.device).map { roster.isMember($0, of: audience) } ?? true
  }

  private mutating func share(
    _ wraps: [KeyWrap], _ audience: Audience, now: Instant, into out: inout Output
  ) {
    guard !wraps.isEmpty, !outbox.isFull else { return }
    let (id, command) = (nextID(now), Command.shareKeys(audience, wraps))
    out.changes.append(outbox.add(id, command))
    outbox.postpone(id, until: now + Timing.requestFirst)
    if case .ready(let ready) = sealAndSign(id, command) {
      request(.command(ready.id, ready.command, ready.signature), into: &out)
    }
  }

  /// Keeps what was shared; tells whether a key came that this device did not have.
  @discardableResult
  mutating func learn(_ wraps: [KeyWrap], _ audience: Audience, isShared: Bool) -> Bool {
    guard var trust else { return false }
    let isNew = trust.ring.learn(
      wraps, audience, in: trust.family, isShared: isShared, trust.vault)
    self.trust = trust
    return isNew
  }

  /// A command of this device was accepted or refused; keys go with it.
  mutating func settled(_ command: Command, _ problem: Problem?, now: Instant) {
    guard case .shareKeys(let audience, let wraps) = command else { return }
    if problem == nil {
      learn(wraps, audience, isShared: true)
    } else {
      trust?.ring.drop(wraps, audience)
    }
    goOn(now)
  }

  /// Looks again at what waits for keys or for the family.
  mutating func goOn(_ now: Instant) {
    guard isWaiting, state == .attached else { return }
    isWaiting = false
    outbox.restart(now)
  }
}

extension Command {
  /// The app of a question.
  fileprivate var app: AppID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.app
    default: nil
    }
  }
}
