import FamilyModel

extension ChildMachine {
  mutating func appRequested(
    _ request: AppRequest, by app: AppID, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    // An app without permission to ask still learns that its device runs.
    if case .ping = request { return effects.append(.app(app, .pong)) }
    if case .rating(let id) = request {
      return effects.append(.app(app, .age(id, rating(of: app))))
    }
    if let problem = feeds.contains(where: { $0.app == app }) ? refusal(of: app) : .notEnrolled {
      if let reply = self.reply(to: request, refusedFor: problem) {
        effects.append(.app(app, reply))
      }
      return
    }
    switch request {
    case .attach(_, let applied):
      ageRequests.removeAll(of: app)
      repeatConsent(to: app, applied: applied, into: &out)
      let handles = knownAndNamed(in: app)
      let proofs = link.rosterProofs.map { AppReply.roster($0) }
      // A copy, because the closure reads the machine while its feed is being changed.
      let machine = self
      let replies =
        update(app) {
          $0.attach(applied: applied, known: handles) { machine.evidence(of: handles, in: app) }
        } ?? []
      // The app ignores every message before the reply to its attachment.
      effects += (replies.prefix(1) + proofs + replies.dropFirst()).map { .app(app, $0) }
    case .name(let handles): name(handles, by: app, into: &out, effects: &effects)
    case .rejected(let problem): effects.append(.notify(.appRejected(app, problem)))
    case .register: register(app, into: &out)
    case .acknowledge(let position): out.changes += update(app) { $0.acknowledge(position) } ?? []
    case .detach: disconnected(app, exited: false, now: now)
    case .ask(let question, let manner, let window):
      // The response to the question launches the app.
      register(app, into: &out)
      ask(question, manner, app, window, now: now, into: &out, effects: &effects)
    case .age(let id, _, _) where link.isShutOut:
      effects.append(.app(app, .age(id, .failed(.notEnrolled))))
    case .age(let id, _, _) where consents.isWithdrawn(app):
      effects.append(.app(app, .age(id, .failed(.consentWithdrawn))))
    case .sites(let sites): answer(sites, of: app, effects: &effects)
    case .manage(let name, let settings):
      effects.append(.app(app, .managed(name, manage(name, settings, of: app, into: &out))))
    case .watch(let activity):
      let problem = watch(activity, of: app, into: &out)
      effects.append(
        .app(app, .watched(activity.name, activity.number, problem, at: provenTime)))
    case .unwatch(let name): unwatch(name, of: app, into: &out)
    case .safety: update(app) { $0.requestSafety() }
    case .analyze(let number, let picture):
      analyze(picture, number, of: app, effects: &effects)
    case .useWeb(let message, let pages):
      use(pages, message, of: app, now: now, into: &out, effects: &effects)
    case .deleteWebUse(let message, let part):
      deleteUse(part, message, of: app, now: now, into: &out, effects: &effects)
    case .ping, .rating: break
    case .age(let id, nil, _): effects.append(.app(app, .age(id, ageStatus(of: app, now: now))))
    case .age(let id, let gates?, let window):
      let request = AgeRequestQueue.Request(app: app, id: id, gates: gates, window: window)
      guard ageRequests.add(request) else {
        return effects.append(.app(app, .age(id, .failed(.tooMany))))
      }
      answerAges(of: app, now: now, into: &out, effects: &effects)
    }
  }

  /// The reply to a request that is refused; `nil` for a request without one.
  private func reply(to request: AppRequest, refusedFor problem: Problem) -> AppReply? {
    switch request {
    // The app's code waits for no answer to its names, and their reply would end a question.
    case .name, .sites, .safety, .useWeb, .deleteWebUse, .unwatch: nil
    case .analyze(let number, _): .analyzed(number, .failed(problem))
    case .manage(let name, _): .managed(name, problem)
    case .watch(let activity):
      .watched(activity.name, activity.number, problem, at: provenTime)
    case .age(let id, _, _): .age(id, .failed(problem))
    default: .failed(problem)
    }
  }

  private mutating func ask(
    _ question: Question, _ manner: AskManner, _ app: AppID, _ window: String, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    func end(_ outcome: AskOutcome) { effects.append(.app(app, .asked(question.id, outcome))) }
    if link.isShutOut { return end(.refused(.notEnrolled)) }
    // After a crash or a lost reply the app repeats its question and joins the existing one.
    if isAsked(question.id) { return end(.sent) }
    if flows.values.contains(where: { $0.question.id == question.id }) { return }
    if let problem = refusal(of: question, by: app) { return end(.refused(problem)) }
    do throws(Problem) { try question.validate(now: now) } catch { return end(.refused(error)) }
    if let problem = exceededLimit(of: question, by: app) { return end(.refused(problem)) }
    let role = link.person?.role
    guard !isInFamily || role != nil else { return end(.refused(.unknown)) }
    // The adult cases of the sandbox treat a child's account as an adult's.
    let isChild = role == .child && age.settings.sandbox?.answers?.response != .systemError
    if manner == .acknowledge {
      // A child's acknowledgement could pass for the guardians' consent.
      guard !isInFamily || !isChild else { return end(.refused(.notPermitted)) }
      let flow = AskFlow(app: app, question: question, stage: .acknowledge, window: window)
      return show(.acknowledge(app, question), flow, effects: &effects)
    }
    let kind = question.topic.kind
    guard isInFamily else {
      guard question.defaultChoice.answer == .denial || kind.allowsApprovingDefault else {
        return end(.refused(.notAChild))
      }
      return answerByDefault(question, app, into: &out, effects: &effects)
    }
    guard isChild else { return end(.refused(.notAChild)) }
    if case .browse(let site) = question.topic, access(to: site) != .ask {
      return end(.refused(.siteNotAsked))
    }
    guard !kind.needsLimits || conversation?.limitsOn ?? true else {
      return answerByDefault(question, app, into: &out, effects: &effects)
    }
    if let open = openQuestion(like: question, app, now: now) {
      let remind = open.lastAsked + Limits.reminderInterval <= now
      let shown = open.question ?? question
      return show(
        .alreadyAsked(app, shown, mayRemind: remind),
        AskFlow(
          app: app, question: question, stage: .alreadyAsked(open.header.id), window: window),
        effects: &effects)
    }
    start(
      AskFlow(app: app, question: question, stage: .permission, window: window), manner, now: now,
      effects: &effects)
  }

  private mutating func start(
    _ flow: AskFlow, _ manner: AskManner, now: Instant, effects: inout [DeviceEffect]
  ) {
    var flow = flow
    switch manner {
    case .byMessage:
      flow.stage = .compose
      show(.compose(flow.app, flow.question, to: link.roster.guardians), flow, effects: &effects)
    case .inPerson where link.passcode != nil:
      askPasscode(flow, effects: &effects)
    case .inPerson:
      effects.append(.notify(.noPasscode))
      effects.append(.app(flow.app, .asked(flow.question.id, .refused(.noPasscode))))
    case .choose, .acknowledge:
      show(.permission(flow.app, flow.question), flow, effects: &effects)
    }
  }

  mutating func promptAnswered(
    _ prompt: UInt64, with answer: PromptAnswer, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    if let flow = ageRequests.endFlow(prompt) {
      return agePromptAnswered(
        prompt, of: flow, with: answer, now: now, into: &out, effects: &effects)
    }
    guard let flow = flows.removeValue(forKey: prompt) else { return }
    func end(_ outcome: AskOutcome) {
      effects.append(.app(flow.app, .asked(flow.question.id, outcome)))
    }
    if link.isShutOut { return end(.refused(.notEnrolled)) }
    // A guardian may withdraw the consent while the prompt is shown. A passcode that is being
    // checked ends the flow itself.
    if let problem = refusal(of: flow.question, by: flow.app), !flow.stage.isChecking {
      return end(.refused(problem))
    }
    switch (flow.stage, answer) {
    case (.alreadyAsked(let open), .remind):
      send(.remind(open), now: now, into: &out)
      end(.alreadyAsked(open))
    case (.alreadyAsked(let open), _): end(.alreadyAsked(open))
    case (.permission, .askByMessage): start(flow, .byMessage, now: now, effects: &effects)
    case (.permission, .inPerson) where link.passcode == nil:
      // Without a passcode nobody can decide in person, so the choice is shown again.
      effects.append(.notify(.noPasscode))
      show(.permission(flow.app, flow.question), flow, effects: &effects)
    case (.permission, .inPerson): askPasscode(flow, effects: &effects)
    case (.passcode, .passcode(let typed, let choice)):
      check(typed, choice, prompt, flow, now: now, into: &out, effects: &effects)
    case (.acknowledge, .acknowledge): end(.acknowledged)
    // The passcode is being checked; the result ends the flow.
    case (.evaluating, _), (.checking, _): flows[prompt] = flow
    case (.compose, .send(let names)):
      end(submit(flow.named(names), flow.app, now: now, into: &out))
    default: end(.cancelled)
    }
  }

  func header(of flow: AskFlow) -> QuestionHeader {
    let subjects = digest(flow.app, flow.question.topic.handles.map(\.canonical).sorted())
    return flow.question.header(child: link.personID, app: flow.app, subjects: subjects)
  }

  private mutating func submit(
    _ question: Question, _ app: AppID, now: Instant, into out: inout DeviceLink.Output
  ) -> AskOutcome {
    do throws(Problem) { try question.validate(now: now) } catch { return .refused(error) }
    let header = header(of: AskFlow(app: app, question: question, stage: .compose))
    return send(.ask(header, .question(question)), now: now, into: &out).map { .refused($0) }
      ?? .sent
  }

  private mutating func answerByDefault(
    _ question: Question, _ app: AppID, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    effects.append(.app(app, .asked(question.id, .answeredByDefault)))
    // After a lost reply the app repeats its question, but the response is in the feed already.
    guard !(feeds.contains { $0.app == app && $0.holdsResponse(to: question.id) }) else { return }
    let new = enqueueResponse(
      question, question.defaultChoice, for: app, limit: Limits.namedHandles, into: &out,
      effects: &effects)
    let known = new.filter { self.known.contains($0, in: app) }
    enqueue(known, for: app, into: &out, effects: &effects) { .known($0) }
  }

  private func isAsked(_ id: QuestionID) -> Bool {
    conversation?.questions.holds(id) ?? false
      || link.pendingCommands.contains { command in
        switch command {
        case .ask(let header, _), .answerInPerson(let header, _, _, _): header.id == id
        default: false
        }
      }
  }

  /// An open question of the same app about the same people or the same update.
  private func openQuestion(like question: Question, _ app: AppID, now: Instant)
    -> QuestionState?
  {
    let items = Set(question.items)
    func isAlike(_ other: Question?) -> Bool { other.map { Set($0.items) == items } ?? false }
    if let state = conversation?.questions.unanswered.first(where: {
      $0.isOpen(now) && $0.header.app == app && isAlike($0.question)
    }) {
      return state
    }
    for case .ask(let header, .question(let waiting)) in link.pendingCommands
    where header.app == app && isAlike(waiting) {
      return QuestionState(header: header, question: waiting, seq: 0, lastAsked: now)
    }
    return nil
  }
}
