public import FamilyModel

/// A guardian's device: the conversations of the family's children, and the guardian's decisions.
public struct GuardianMachine: Sendable {
  /// An input of the machine.
  public enum Input: Sendable {
    /// The machine was restored. Open questions are shown again.
    case started
    /// The connection to the relay is up.
    case connected
    /// The connection to the relay is down.
    case disconnected
    /// The relay answered a request.
    case reply(UInt64, Reply)
    /// A broadcast arrived.
    case broadcast(Broadcast)
    /// The snapshot with this number was made; `nil`: the records allow none.
    case snapshotMade(UInt64, [UInt8]?)
    /// The guardian has read the conversation up to this sequence number.
    case seen(child: PersonID, seq: UInt64)
    /// The guardian answers a question with a choice.
    case answer(QuestionID, choice: String)
    /// The guardian writes a message into a child's conversation.
    case post(child: PersonID, String)
    /// The guardian turns a child's communication limits on or off.
    case setLimits(child: PersonID, on: Bool)
    /// The guardian adds a handle to a child's contacts, or removes it.
    case changeContact(child: PersonID, Handle, known: Bool)
    /// The guardian names a contact; an empty name removes the name.
    case nameContact(child: PersonID, Handle, String)
    /// The guardian withdraws an approval.
    case withdraw(child: PersonID, Withdrawal)
    /// The guardian chooses the family's passcode, as typed.
    case choosePasscode(String)
    /// The guardian sets the family's passcode, which was derived from the relay's evaluation.
    case setPasscode(Passcode)
    /// The guardian adds a child to the family.
    case addChild(displayName: String)
    /// The guardian changes the roster. See ``DeviceLink/roster(removing:)``.
    case setRoster(Roster)
    /// The guardian invites a device to join.
    case invite(Invitation)
    /// The guardian sets or corrects a child's account.
    case setAccount(PersonID, Account)
    /// The guardian changes a child's age settings.
    case setAge(PersonID, AgeSettings)
    /// The guardian changes one setting of a child; the content is the setting.
    case changeSettings(PersonID, Content)
    /// The guardian deletes the age answers to an app about a child.
    case forgetAge(PersonID, AppID)
    /// The guardian has read all notifications.
    case readNotifications
    /// The guardian dismisses one notification or, without an id, all.
    case dismissNotification(CommandID?)
    /// The clock was set back, so that deadlines of the former time would come too late.
    case clockSetBack
    /// The deadline has passed.
    case timer
  }

  /// The connection to the relay, and the state derived from it.
  public private(set) var link: DeviceLink
  /// The notices that the guardian has not dismissed.
  public private(set) var notifications: Notifications
  /// The children's apps as of the last event that this machine applied. The link may be ahead.
  private var apps: [PersonID: AppLists]

  private let blind: ChildMachine.Blind

  /// A device restored from its records.
  ///
  /// - Parameter security: The keys to verify and open events; `nil` verifies nothing, for tests of
  ///   the machine alone.
  /// - Parameter hostAnnouncesPresence: Whether the host announces the presence of all devices of
  ///   its connection.
  /// - Parameter blind: Blinds passcodes; by default for the ideal function of machines without keys.
  public init(
    _ address: DeviceAddress, of person: PersonID, security: Security? = nil,
    hostAnnouncesPresence: Bool = false, restoring records: [DeviceRecord] = [], ids: IDSource,
    blind: @escaping ChildMachine.Blind = PasscodeAttempt.ideal
  ) {
    self.blind = blind
    link = DeviceLink(
      address, of: person, security, hostAnnouncesPresence: hostAnnouncesPresence,
      restoring: records, ids: ids)
    notifications = Notifications(restoring: records, joined: link.joined)
    apps = link.family.apps
    link.finishSnapshot()
  }

  /// Releases the restored events, which only tools read.
  public mutating func releaseRestored() { link.releaseRestored() }

  /// Moves the settled history from memory to a storage. The state of the device stays equal.
  public mutating func moveHistory(to storage: any HistoryStorage) {
    link.moveHistory(to: storage)
  }

  /// Takes the changes that this start requires. The first step persists them if nobody takes them.
  public mutating func takeStartChanges() -> [RecordChange] { link.takeStartChanges() }

  /// Seals and signs a command for a caller that sends it without the outbox.
  ///
  /// - Returns: The key shares that the command's readers need, then the command.
  /// - Throws: `stale` if this device does not know the family well enough.
  public mutating func prepare(_ command: Command, id: CommandID? = nil, now: Instant)
    throws(Problem) -> [SignedCommand]
  {
    try link.prepare(command, id: id, now: now)
  }

  /// Learns the relay's time from a refusal of a prepared command.
  ///
  /// - Returns: Whether the command can be prepared again, with an id of the relay's time.
  public mutating func learn(from refusal: Problem, now: Instant) -> Bool {
    guard refusal.isEarlyID, refusal.relayTime != nil else { return false }
    link.sender.learn(relayTime: refusal.relayTime, now: now)
    return true
  }

  /// When the machine needs the input `timer`, or `nil` if it needs none.
  public var deadline: Instant? { link.deadline }

  /// The deadline, which is searched once after each change and read without a copy of the machine.
  public mutating func findDeadline() -> Instant? { link.findDeadline() }

  /// The question and its conversation's child, or `nil` if this device does not know the question.
  public func question(_ id: QuestionID) -> (child: PersonID, state: QuestionState)? {
    for child in link.conversations.keys.sorted() {
      if let state = link.conversations[child]?.questions[id] { return (child, state) }
    }
    return nil
  }

  /// The open questions without an answer of this guardian, oldest first.
  public func open(now: Instant) -> [Bubble] {
    let answered = Set(
      link.pendingCommands.compactMap { command in
        if case .answer(let id, _) = command { id } else { QuestionID?.none }
      })
    return link.conversations.keys.sorted()
      .flatMap { link.conversations[$0]!.questions.unanswered }
      .filter { $0.isOpen(now) && !answered.contains($0.header.id) }
      .sorted { $0.seq < $1.seq }
      .compactMap(bubble)
  }

  private func bubble(_ state: QuestionState) -> Bubble? {
    guard let question = state.question, let child = link.roster.person(state.header.child) else {
      return nil
    }
    return Bubble(child: child, app: state.header.app, question: question, seq: state.seq)
  }

  /// Handles one input.
  ///
  /// - Returns: The effects, the change of durable state first.
  public mutating func step(_ input: Input, now: Instant) -> [DeviceEffect] {
    var out = DeviceLink.Output()
    var effects: [DeviceEffect] = []
    link.evaluateNewer(into: &out)
    switch input {
    case .started: show(open(now: now), now: now, into: &out, effects: &effects)
    case .connected: link.connected(now: now, into: &out)
    case .disconnected: link.disconnected(now: now, into: &out)
    case .reply(let id, let reply): link.reply(id, reply, now: now, into: &out)
    case .broadcast(let broadcast): link.broadcast(broadcast, now: now, into: &out)
    case .snapshotMade(let number, let snapshot):
      link.storeSnapshot(snapshot, number, into: &out)
    case .timer: link.timer(now: now, into: &out)
    case .clockSetBack: link.clockSetBack(now: now)
    case .seen(let child, let seq): link.markRead(.conversation(child), upTo: seq)
    case .answer(let id, let choice): answer(id, choice, now: now, into: &out, effects: &effects)
    case .post(let child, let text):
      send(.post(child: child, .text(text)), now: now, into: &out, effects: &effects)
    case .readNotifications: out.changes += notifications.markRead()
    case .dismissNotification(let id): out.changes += notifications.dismiss(id)
    case .setLimits(let child, let on):
      send(.setLimits(child: child, on: on), now: now, into: &out, effects: &effects)
    case .changeContact(let child, let handle, let known):
      send(
        .changeContact(child: child, .contact(handle, known: known)), now: now, into: &out,
        effects: &effects)
    case .nameContact(let child, let handle, let name):
      send(
        .changeContact(child: child, .contactName(handle, name)), now: now, into: &out,
        effects: &effects)
    case .withdraw(let child, let what):
      send(.withdraw(child: child, .withdrawal(what)), now: now, into: &out, effects: &effects)
    case .choosePasscode(let typed):
      choosePasscode(typed, now: now, into: &out, effects: &effects)
    case .setPasscode(let passcode):
      send(.setPasscode(passcode), now: now, into: &out, effects: &effects)
    case .addChild(let name):
      send(.addChild(displayName: name), now: now, into: &out, effects: &effects)
    case .setRoster(let roster):
      for part in link.family.parts(of: roster) {
        send(.setRoster(part), now: now, into: &out, effects: &effects)
      }
    case .invite(let invitation): send(.invite(invitation), now: now, into: &out, effects: &effects)
    case .setAccount(let person, let account):
      send(.setAccount(person, .account(account)), now: now, into: &out, effects: &effects)
    case .setAge(let person, let settings):
      send(
        .setAge(person, .ageSettings(settings), proof: []), now: now, into: &out, effects: &effects)
    case .changeSettings(let child, let content):
      send(
        .changeSettings(child, content, proof: []), now: now, into: &out, effects: &effects)
    case .forgetAge(let person, let app):
      send(
        .setAge(person, .ageMemory(app, nil), proof: []), now: now, into: &out, effects: &effects)
    }
    for event in out.events { applyAndKeep(event, now: now, into: &out, effects: &effects) }
    for done in out.evaluated {
      switch done.result {
      case .success(let evaluation): effects.append(.derivePasscode(done.attempt, evaluation))
      case .failure(let problem): effects.append(.notify(.passcodeNotSet(problem)))
      }
    }
    effects += link.endStep(now: now, into: &out)
    return (out.changes.isEmpty ? [] : [.persist(out.changes)]) + out.sends + effects
  }

  /// Applies an event and keeps the notices that it causes, unless it is the guardian's own act.
  private mutating func applyAndKeep(
    _ event: Event, now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    var caused: [DeviceEffect] = []
    apply(event, now: now, into: &out, effects: &caused)
    effects += caused
    if let joined = link.joined { notifications.join(at: joined) }
    guard link.owner(of: event.device) != link.personID else { return }
    for case .notify(let notice) in caused {
      guard
        let new = notifications.add(
          notice, id: event.command, at: event.at, changes: &out.changes)
      else { continue }
      effects.append(.alert(new))
    }
  }

  private mutating func apply(
    _ event: Event, now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    let author = link.owner(of: event.device)
    switch event.body {
    case .rosterChanged:
      link.reattach(now: now, into: &out)
      effects += link.noticesOfNewDevices(by: author)
      // A question may arrive before the roster that contains its child.
      show(open(now: now), now: now, into: &out, effects: &effects)
    case .asked(let header, _):
      if let state = question(header.id)?.state, state.isOpen(now), let bubble = bubble(state) {
        show([bubble], now: now, into: &out, effects: &effects)
      }
    case .ageSet(let child, .ageSettings(let settings), _) where settings.sandbox != nil:
      let open = open(now: now).filter { $0.child.id == child }
      show(open, now: now, into: &out, effects: &effects)
    case .ageNoted(let child, .apps(let list)):
      let risen = apps[child, default: AppLists()].apply(event, list)
      if !risen.isEmpty { effects.append(.notify(.ratingsRaised(child: child, risen))) }
    case .reminded(let id): effects.append(.notify(.reminded(id)))
    case .joinRequested(let join): effects.append(.notify(.wantsToJoin(join)))
    case .decided(let decision):
      effects.append(.notify(.decided(decision.question, decision.choice, by: author)))
    case .answeredInPerson(_, _, let decision, _):
      effects.append(.notify(.decided(decision.question, decision.choice, by: author)))
    case .withdrawn(_, .withdrawal(let what)) where author != link.personID:
      effects.append(.notify(.withdrawn(what, by: author)))
    case .posted(let child, _):
      if author != link.personID {
        effects.append(.notify(.message(child: child, from: author, seq: event.seq)))
      }
    default: break
    }
  }

  /// Shows open questions. In a case of the sandbox the device answers as the case defines.
  private mutating func show(
    _ bubbles: [Bubble], now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    for bubble in bubbles {
      guard
        let choice = bubble.question.choices.first(where: {
          $0.answer == link.sandboxAnswer(of: bubble.child.id)
        })
      else {
        effects.append(.bubble(bubble))
        continue
      }
      answer(bubble.question.id, choice.id, now: now, into: &out, effects: &effects)
    }
  }

  private mutating func answer(
    _ id: QuestionID, _ choice: String, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    let command = Command.answer(id, choice: choice)
    // The device refuses an answer that the relay would refuse, without a round trip.
    guard let (child, state) = question(id) else {
      return effects.append(.notify(.refused(command, .unknown)))
    }
    switch state.phase {
    case .answered: return effects.append(.notify(.refused(command, .alreadyAnswered)))
    case .cancelled: return effects.append(.notify(.refused(command, .cancelled)))
    case .open where !state.isOpen(now):
      return effects.append(.notify(.refused(command, .expired)))
    case .open: break
    }
    if let end = state.question?.choices.first(where: { $0.id == choice })?.end,
      end.moment(decidedAt: now) <= now
    {
      return effects.append(.notify(.refused(command, .expired)))
    }
    link.markRead(.conversation(child), upTo: state.seq)
    send(command, now: now, into: &out, effects: &effects)
  }

  /// Requests an evaluation under a new secret of the relay. One passcode is chosen at a time.
  private mutating func choosePasscode(
    _ typed: String, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    do throws(Problem) { try Passcode.validate(typed: typed) } catch {
      return effects.append(.notify(.passcodeNotSet(error)))
    }
    link.evaluate(blind(typed), isNew: true, number: 0, now: now, into: &out)
  }

  private mutating func send(
    _ command: Command, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    do throws(Problem) {
      if case .changeContact(_, let content) = command { try content.validateContact() }
      try link.send(command, id: link.nextID(now: now), now: now, into: &out)
    } catch { effects.append(.notify(.refused(command, error))) }
  }
}
