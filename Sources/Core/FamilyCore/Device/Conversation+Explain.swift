public import FamilyModel

/// The explanation of one handle from the events of a conversation. The inputs are the state that a
/// device has verified, and its clock.
struct HandleExplainer {
  let conversation: Conversation
  let handle: Handle
  let app: AppID
  let now: Instant
  /// Returns the present or former owner of a device.
  let owner: (DeviceID) -> PersonID

  func explain() -> HandleExplanation {
    var answer = HandleExplanation(handle: handle, app: app, isKnown: false, rule: .neverAsked)
    do throws(Problem) { try handle.validate() } catch {
      answer.rule = .notAHandle(error)
      return answer
    }
    answer.isKnown = known.contains(handle, in: app)
    let deciding = answer.isKnown ? grant : unknownFact
    answer.rule = deciding?.rule ?? .neverAsked
    answer.request = deciding.flatMap { number(ofEvent: $0.seq) }
    if !answer.isKnown {
      answer.nearMisses = nearMisses
      if conversation.inOrder.contains(where: { $0.question == nil }) {
        answer.conditions.append(.unreadable)
      }
    }
    if !conversation.limitsOn { answer.conditions.append(.limitsOff) }
    if let withdrawal = consentWithdrawal { answer.conditions.append(withdrawal) }
    return answer
  }

  /// A fact with the sequence number of its event.
  private typealias Fact = (seq: UInt64, rule: HandleExplanation.Rule)

  private var known: KnownHandles { conversation.known.judged(at: now) }

  /// A statement that counts.
  private struct Statement {
    var kind: KnownStatement.Kind
    var command: CommandName
    var isKnown: Bool
    var until: Instant?
  }

  private var statements: [Statement] {
    known.statements(of: handle, in: app).compactMap { statement in
      statement.changes.current.map {
        Statement(
          kind: statement.kind, command: $0.order.command, isKnown: $0.value.isKnown,
          until: $0.value.until)
      }
    }
  }

  /// The statement that keeps the handle known for longest: the latest one without an end, or else
  /// the one with the latest end.
  private var grant: Fact? {
    let kinds = known.reasons
      .filter { $0.handle == handle && ($0.reason.app == nil || $0.reason.app == app) }
      .map(\.reason.statementKind)
    let grants = statements.filter { kinds.contains($0.kind) }
    if let limited = grants.max(by: { $0.until ?? now < $1.until ?? now }),
      grants.allSatisfy({ $0.until != nil })
    {
      return fact(limited)
    }
    return grants.filter { $0.until == nil }.compactMap(fact).max { $0.seq < $1.seq }
  }

  /// The number of the question that the event is about; `nil` for another event.
  private func number(ofEvent seq: UInt64) -> UInt64? {
    conversation.lines.line(of: seq)?.body.question
      .flatMap { conversation.questions[$0]?.seq }
  }

  /// The latest fact about an unknown handle. A request that can still be answered precedes all.
  private var unknownFact: Fact? {
    let questions = conversation.inOrder.filter(isAbout)
    if let open = questions.last(where: { $0.isOpen(now) }) {
      return (open.seq, .waiting(since: open.lastAsked, until: open.header.expiration))
    }
    // A withdrawal overrides an approval whose end is still to come.
    let facts =
      statements.filter { $0.until.map { $0 <= now } ?? true }.compactMap(fact)
      + questions.compactMap(outcome)
    return facts.max { $0.seq < $1.seq }
  }

  /// A custom name concerns its own app; numbers and addresses concern every app.
  private func isAbout(_ state: QuestionState) -> Bool {
    guard !handle.kind.isOfOneApp || state.header.app == app else { return false }
    return state.question?.topic.handles.contains { $0.canonical == handle } ?? false
  }

  /// The event of a statement. An approval that a later withdrawal overrides is no fact.
  private func fact(_ statement: Statement) -> Fact? {
    guard let origin = conversation.origins[statement.command] else { return nil }
    let (by, at) = (owner(origin.device), origin.at)
    switch origin.kind {
    case .contact:
      return (
        origin.seq, statement.isKnown ? .contact(by: by, at: at) : .contactRemoved(by: by, at: at)
      )
    case .approval:
      guard statement.isKnown else { return nil }
      if let end = statement.until, end <= now {
        return (origin.seq, .approvalEnded(by: by, at: at, ended: end))
      }
      return (origin.seq, .approved(by: by, at: at, ends: statement.until))
    case .withdrawal: return (origin.seq, .withdrawn(by: by, at: at))
    }
  }

  /// How a closed question ended, unless a statement covers it.
  private func outcome(of state: QuestionState) -> Fact? {
    let id = state.header.id
    switch state.phase {
    case .answered(let choice, let device, let at):
      guard choice.answer == .denial else { return nil }
      return (seq(id, \.isDecision), .declined(by: owner(device), at: at))
    case .cancelled: return (seq(id, \.isCancellation), .cancelled(asked: state.lastAsked))
    case .open: return state.header.expiration.map { (state.seq, .expired(at: $0)) }
    }
  }

  /// The sequence number of the question's line of one kind; zero if there is no such line.
  private func seq(_ id: QuestionID, _ isWanted: (Line.Body) -> Bool) -> UInt64 {
    conversation.lines.last { $0.body.question == id && isWanted($0.body) }?.seq ?? 0
  }

  /// The withdrawal of the consent to the app, if the statement counts.
  private var consentWithdrawal: HandleExplanation.Rule? {
    guard let statement = conversation.consents.statements[app]?.current, statement.value,
      let line = conversation.lines.line(of: statement.order.seq)
    else { return nil }
    return .consentWithdrawn(by: owner(line.device), at: line.at)
  }

  // MARK: Near misses

  private var nearMisses: [HandleExplanation.NearMiss] {
    var found: [HandleExplanation.NearMiss] = []
    for (known, reason) in self.known.reasons {
      var miss: HandleExplanation.NearMiss?
      if known == handle, let other = reason.app {
        miss = .otherApp(other)
      } else if known.kind != handle.kind,
        known.value == Handle(handle.value, known.kind).canonical.value
      {
        miss = .otherKind(known)
      } else if known != handle, known.kind == handle.kind, known.resembles(handle) {
        miss = .otherSpelling(known)
      }
      if let miss, !found.contains(miss) { found.append(miss) }
    }
    return found
  }
}

extension Conversation {
  /// Why the handle is known in the app, or is not, as far as the conversation's events decide.
  ///
  /// - Parameter owner: Returns the present or former owner of a device.
  func explain(
    _ handle: Handle, in app: AppID, now: Instant, owner: @escaping (DeviceID) -> PersonID
  ) -> HandleExplanation {
    HandleExplainer(
      conversation: self, handle: handle.canonical, app: app, now: now, owner: owner
    ).explain()
  }
}

extension DeviceLink {
  /// Why the handle is known for the child in the app, or is not, as this device knows the family.
  ///
  /// The app's rating is that of the child's list of apps. A guardian's device does not know the
  /// entries that the app has not acknowledged.
  public func explain(_ handle: Handle, of child: PersonID, in app: AppID, now: Instant)
    -> HandleExplanation
  {
    var answer = (conversations[child] ?? Conversation()).explain(
      handle, in: app, now: now, owner: owner(of:))
    let ceiling = age(of: child).settings.ceiling
    let listed = apps(of: child).filter { $0.listed.app == app }
    if !listed.isEmpty, !listed.contains(where: { $0.listed.isAllowed(by: ceiling) }) {
      answer.conditions.append(.ratedAbove)
    }
    return answer
  }
}

extension ChildMachine {
  /// Why the handle is known in the app, or is not. Counts commands in the outbox, the app's rating
  /// and the entries that the app has not acknowledged.
  public func explain(_ handle: Handle, in app: AppID, now: Instant) -> HandleExplanation {
    var answer = link.explain(
      handle, of: link.personID, in: app, now: max(now, latest.value))
    let handle = answer.handle
    let isSending = link.pendingCommands.contains { command in
      guard case .ask(let header, .question(let question)) = command else { return false }
      return (!handle.kind.isOfOneApp || header.app == app)
        && question.topic.handles.contains { $0.canonical == handle }
    }
    if isSending, !answer.isKnown {
      answer.rule = .sending
      answer.request = nil
    }
    // This device's own manifest is newer than the list of apps.
    answer.conditions.removeAll { $0 == .ratedAbove }
    if refusal(of: app) == .ratedAbove { answer.conditions.append(.ratedAbove) }
    guard let feed = feeds.first(where: { $0.app == app }) else { return answer }
    if feed.entries.contains(where: { $0.body.concerns(handle) }) {
      answer.conditions.append(feed.progress.registered ? .notTaken : .neverListened)
    } else if answer.isKnown, !feed.named.contains(handle) {
      answer.conditions.append(.notNamed)
    }
    return answer
  }
}

extension KnownHandles.Reason {
  /// The kind of the statement behind the reason.
  fileprivate var statementKind: KnownStatement.Kind {
    switch self {
    case .contact: .contact
    case .approved(let app): app == nil ? .approved : .approvedIn
    case .approvedUntil(_, let app): app == nil ? .limited : .limitedIn
    }
  }
}

extension AppEntry.Body {
  fileprivate func concerns(_ handle: Handle) -> Bool {
    switch self {
    case .known(let handles), .forgotten(let handles):
      handles.contains { $0.canonical == handle }
    case .response(let question, _): question.topic.handles.contains { $0.canonical == handle }
    default: false
    }
  }
}

extension Line.Body {
  fileprivate var question: QuestionID? {
    switch self {
    case .question(let id), .reminder(let id), .decision(let id, _), .cancellation(let id),
      .inPerson(let id, _):
      id
    case .text, .withdrawal, .newer: nil
    }
  }

  fileprivate var isCancellation: Bool { if case .cancellation = self { true } else { false } }

  fileprivate var isDecision: Bool {
    switch self {
    case .decision, .inPerson: true
    default: false
    }
  }
}
