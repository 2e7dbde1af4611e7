public import FamilyModel

/// The state of the device that its machine and its host read.
extension DeviceLink {
  /// The newest roster that this device has verified.
  public var roster: Roster { family.roster }
  /// The accounts that this device may read.
  public var accounts: [PersonID: Account] { family.accounts }
  /// When the account of the person was made, by the relay's clock; `nil` without an account.
  public func accountMade(of person: PersonID) -> Instant? { family.accountsMade[person] }
  /// Whether communication limits are on for the person: a child, unless guardians turned them off.
  public func limitsOn(for person: PersonID) -> Bool {
    roster.person(person)?.role == .child && family.conversations[person]?.limitsOn ?? true
  }
  /// The answer of the person's sandbox case to each question; `nil` outside the sandbox.
  ///
  /// A guardian's device answers only in a case that a guardian set. A passcode stands for one
  /// moment, and must not make guardians' devices sign approvals from then on.
  func sandboxAnswer(of person: PersonID) -> Answer? {
    guard let state = family.ages[person]?.state, !state.isSetByChild else { return nil }
    return switch state.settings.sandbox?.answers?.response {
    case .approve: .approval
    case .decline: .denial
    case .systemError, nil: nil
    }
  }
  /// The conversations that this device takes part in, by their child.
  public var conversations: [PersonID: Conversation] { family.conversations }
  /// The requests of new devices to join, in order of arrival.
  public var joins: [JoinRequest] { family.joins }
  /// The family's passcode, or `nil` until a guardian sets one.
  public var passcode: Passcode? { family.passcode }

  /// Whether the relay has committed an invitation with this key that is open or used.
  public func isInvited(_ key: [UInt8]) -> Bool { verifier?.invitations.holds(key) ?? false }

  func question(_ id: QuestionID) -> QuestionState? { family.question(id) }

  /// Whether the family's audience has events that this device has not read yet.
  var isBehind: Bool { delivered(.family) < familyHead }

  /// Whether this device can share keys now. A share that is due before then needs no timer.
  var mayShareKeys: Bool {
    // The closure of an operator would copy the whole link at each step.
    guard state == .attached else { return false }
    return !isBehind
  }

  /// The rosters as apps see them, in the order in which this device counts them.
  var rosterProofs: [RosterProof] {
    guard let verifier, let evidence = verifier.evidence else { return [] }
    return evidence.proofs(of: verifier.rosters)
  }

  /// The evidence of these commands that the app may see, each once.
  ///
  /// - Parameter named: The handles that the app has named. The evidence reveals no other handle.
  func evidence(_ commands: [CommandName], for app: AppID, named: HandleSet) -> [Evidence] {
    guard let verifier, let file = verifier.evidence else { return [] }
    var included: Set<CommandName> = []
    return commands.filter { included.insert($0).inserted }
      .compactMap { file.evidence($0, for: app, named: named, verifier, question: family.question) }
  }

  /// The number of durable events that wait for a key or a roster before they can be verified.
  package var deferredCount: Int { verifier?.deferred.count ?? 0 }

  /// The number of contents that this device cannot open yet, because it lacks their keys.
  public var unopenedCount: Int { verifier?.deferred.keyless ?? 0 }

  /// The number of verified events that are newer than this version, which shows none of them.
  public var newerCount: Int { family.newer }

  /// Whether the device is no longer in the family: a verified roster removed it, or the relay
  /// refuses it. Such a device sends no command and gives apps no new answers.
  public var isShutOut: Bool {
    // A device that joins reads older rosters first, which lack it as well.
    isRefused || family.owners[address.device] != nil && roster.device(address.device) == nil
  }

  /// The owner of this device, or `nil` before the first roster.
  public var person: Person? { roster.person(personID) }

  /// The present or former owner of a device; person zero if the device is unknown.
  public func owner(of device: DeviceID) -> PersonID { family.owners[device] ?? PersonID(0) }

  /// The device's cursors, ascending by audience.
  public var position: [Cursor] { cursors.entries.map(\.value) }

  /// Commands that the relay has not acknowledged, in order.
  ///
  /// Statements that this device gives back are left out: the device knows their events.
  public var pendingCommands: [Command] { pendingCommandsByID.map(\.command) }

  /// The number of lost statements that the relay has accepted again since the device's start.
  public var givenBack: Int { sender.givenBack }

  /// The person's age settings and age answers. Commands in the outbox count already.
  public func age(of person: PersonID) -> AgeState {
    var state = family.ages[person]?.state ?? AgeState()
    for pending in sender.outbox.ageChanges {
      switch pending.command {
      case .noteAge(person, let content): state.record(content)
      case .setAge(person, let content, _):
        let name = CommandName(address.device, pending.id)
        state.set(content, byChild: false, StatementOrder(ofPending: name))
      default: break
      }
    }
    return state
  }

  /// The commands in the outbox with their ids, which their lines in the conversation will carry.
  public var pendingCommandsByID: [(id: CommandID, command: Command)] {
    sender.outbox.pending.filter { !$0.isGivenBack }.map { ($0.id, $0.command) }
  }

  var deadline: Instant? { deadline(ofOutbox: sender.outbox.deadline) }

  /// The deadline; see ``Outbox/findDeadline()``.
  mutating func findDeadline() -> Instant? {
    let outbox = sender.findDeadline()
    return deadline(ofOutbox: outbox)
  }

  private func deadline(ofOutbox outbox: Instant?) -> Instant? {
    var earliest = outbox
    earliest.advance(to: due)
    if mayShareKeys {
      earliest.advance(to: sender.newcomersDue)
      earliest.advance(to: sender.complaintsDue)
      earliest.advance(to: rosterDue)
    }
    if state == .attached { earliest.advance(to: correctionDue) }
    earliest.advance(to: withheldDue)
    earliest.advance(to: beatDue)
    earliest.advance(to: silenceDue)
    earliest.advance(to: fetching.values.lazy.map(\.due).min())
    earliest.advance(to: evaluations.values.lazy.map(\.due).min())
    return earliest
  }

  func delivered(_ audience: Audience) -> UInt64 { cursors[audience]?.delivered ?? 0 }
}

extension Instant? {
  /// Replaces the time with an earlier one.
  mutating func advance(to other: Instant?) {
    guard let other else { return }
    self = Swift.min(self ?? other, other)
  }
}
