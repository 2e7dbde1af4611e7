import FamilyModel

/// Events that the link applied.
extension ChildMachine {
  mutating func apply(
    _ event: Event, now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    observeTime(now: now, proven: event.signedAt, into: &out, effects: &effects)
    let handles = handlesConcerned(by: event).map(\.canonical)
    let before = feeds.map { knownAndNamed(handles, in: $0) }
    updateKnownHandles(event)
    haveSitesMoved = haveSitesMoved || handles.contains { $0.kind == .site }
    applyConsent(event, into: &out, effects: &effects)
    // A later event of the same step may authorize the app again.
    endManaging(into: &out)
    var derived: (app: AppID, known: [Handle])?
    switch event.body {
    case .rosterChanged:
      isListDue = true
      link.reattach(now: now, into: &out)
      effects += link.noticesOfNewDevices(by: link.owner(of: event.device))
      let proof = link.rosterProofs.last {
        $0.command == event.command && $0.signature.signer == event.device
      }
      if let proof { show([proof], effects: &effects) }
    case .decided(let decision):
      effects.append(
        .notify(.decided(decision.question, decision.choice, by: link.owner(of: event.device))))
      // The response itself makes the handles known in the question's app.
      derived = enqueueResponse(decision, event, into: &out, effects: &effects)
    case .answeredInPerson(_, _, let decision, _):
      derived = enqueueResponse(decision, event, into: &out, effects: &effects)
    case .withdrawn(_, .withdrawal(let withdrawal)):
      effects.append(.notify(.withdrawn(withdrawal, by: link.owner(of: event.device))))
    case .settingsChanged(link.personID, .webUseDeleted(let site), _):
      deleteWebUse(of: site, into: &out)
    case .posted(let child, _):
      let author = link.owner(of: event.device)
      if author != link.personID {
        effects.append(.notify(.message(child: child, from: author, seq: event.seq)))
      }
    default: break
    }
    for (feed, before) in zip(feeds, before) {
      // If a withdrawal that replaces the approval arrived before it, the app must forget the
      // handles again.
      let assumed = feed.app == derived?.app ? derived!.known.map(\.canonical) : []
      let old = before + assumed.filter { !before.contains($0) }
      let now = knownAndNamed(handles, in: feed)
      let gained = now.filter { !old.contains($0) }
      let lost = old.filter { !now.contains($0) }
      enqueue(gained, for: feed.app, into: &out, effects: &effects) { .known($0) }
      enqueue(lost, for: feed.app, into: &out, effects: &effects) { .forgotten($0) }
    }
  }

  /// Shows rosters to the attached apps.
  func show(_ rosters: [RosterProof], effects: inout [DeviceEffect]) {
    for feed in feeds where feed.isAttached {
      effects += rosters.map { .app(feed.app, .roster($0)) }
    }
  }

  private func handlesConcerned(by event: Event) -> [Handle] {
    switch event.body {
    case .decided(let decision):
      conversation?.questions[decision.question]?.question?.topic.handles ?? []
    case .contactChanged(_, .contact(let handle, _)): [handle]
    case .withdrawn(_, .withdrawal(.handle(let handle, _))): [handle]
    case .answeredInPerson(_, .question(let question), _, _): question.topic.handles
    default: []
    }
  }

  /// The commands that decide whether the handles are known in the app.
  func commands(about handles: [Handle], in app: AppID) -> [CommandName] {
    handles.flatMap { known.statements(of: $0, in: app) }
      .flatMap { $0.changes.all.map(\.order.command) }
  }

  /// Enqueues the response to a decision.
  ///
  /// - Returns: The app, and the handles that the app derives from the response.
  private mutating func enqueueResponse(
    _ decision: Decision, _ event: Event, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) -> (app: AppID, known: [Handle])? {
    guard let state = conversation?.questions[decision.question], let question = state.question,
      let choice = question.choices.first(where: { $0.id == decision.choice.id })
    else { return nil }
    enqueueResponse(
      question, choice, for: state.header.app, signed: [event.name], into: &out, effects: &effects)
    return (state.header.app, choice.answer == .approval ? question.topic.handles : [])
  }

  /// Applies an event to the known handles, when it arrives and after a restart.
  mutating func updateKnownHandles(_ event: Event) {
    guard let child = event.audience.conversationChild, child == link.personID else { return }
    known.apply(event) { link.conversations[child]?.questions[$0] }
  }
}
