import FamilyModel

extension ChildMachine {
  mutating func handle(
    _ request: AppRequest, of app: AppID, _ now: Instant, _ out: inout DeviceLink.Output,
    _ effects: inout [DeviceEffect]
  ) {
    guard feeds.contains(where: { $0.app == app }) else {
      return effects.append(.app(app, .failed(.notEnrolled)))
    }
    switch request {
    case .attach(_, let applied):
      let handles = known.all(in: app)
      let replies = update(app) { $0.attach(applied: applied, known: handles) } ?? []
      effects += replies.map { .app(app, $0) }
    case .register: out.changes += update(app) { $0.register() } ?? []
    case .acknowledge(let position): out.changes += update(app) { $0.acknowledge(position) } ?? []
    case .detach: update(app) { $0.gone(exited: false, now) }
    case .ask(let question): ask(question, app, now, &out, &effects)
    }
  }

  private mutating func ask(
    _ question: Question, _ app: AppID, _ now: Instant, _ out: inout DeviceLink.Output,
    _ effects: inout [DeviceEffect]
  ) {
    func end(_ outcome: AskOutcome) { effects.append(.app(app, .asked(question.id, outcome))) }
    // The app asks again after a crash or a lost reply: it joins what is there.
    if isOnItsWay(question.id) { return end(.sent) }
    if flows.values.contains(where: { $0.question.id == question.id }) { return }
    do throws(Problem) { try question.validate(now: now) } catch { return end(.refused(error)) }
    guard isInFamily else { return answerByDefault(question, app, &out, &effects) }
    guard let person = link.person else { return end(.refused(.unknown)) }
    guard person.role == .child else { return end(.refused(.notAChild)) }
    guard conversation?.limitsOn ?? true else {
      return answerByDefault(question, app, &out, &effects)
    }
    if let open = openQuestion(like: question, app, now) {
      let remind = open.lastAsked + Limits.reminderInterval <= now
      let shown = open.question ?? question
      return show(
        .alreadyAsked(app, shown, mayRemind: remind),
        AskFlow(app: app, question: question, stage: .alreadyAsked(open.header.id)), &effects)
    }
    show(
      .permission(app, question), AskFlow(app: app, question: question, stage: .permission),
      &effects)
  }

  mutating func handle(
    _ answer: PromptAnswer, to prompt: UInt64, _ now: Instant, _ out: inout DeviceLink.Output,
    _ effects: inout [DeviceEffect]
  ) {
    guard let flow = flows.removeValue(forKey: prompt) else { return }
    func end(_ outcome: AskOutcome) {
      effects.append(.app(flow.app, .asked(flow.question.id, outcome)))
    }
    switch (flow.stage, answer) {
    case (.alreadyAsked(let open), .remind):
      send(.remind(open), now, &out)
      end(.alreadyAsked(open))
    case (.alreadyAsked(let open), _): end(.alreadyAsked(open))
    case (.permission, .askByMessage):
      let next = AskFlow(app: flow.app, question: flow.question, stage: .compose)
      show(.compose(flow.app, flow.question, to: link.roster.guardians), next, &effects)
    case (.permission, .inPerson):
      // There is no passcode in any family yet, so nobody can type one: back to the choice.
      effects.append(.notify(.noPasscode))
      show(.permission(flow.app, flow.question), flow, &effects)
    case (.compose, .send(let names)):
      end(compose(flow.named(names), flow.app, now, &out))
    default: end(.cancelled)
    }
  }

  private mutating func compose(
    _ question: Question, _ app: AppID, _ now: Instant, _ out: inout DeviceLink.Output
  ) -> AskOutcome {
    do throws(Problem) { try question.validate(now: now) } catch { return .refused(error) }
    let subjects = digest(app, question.topic.handles.map(\.canonical).sorted())
    let header = question.header(child: link.personID, app: app, subjects: subjects)
    return send(.ask(header, .question(question)), now, &out).map { .refused($0) } ?? .sent
  }

  private mutating func answerByDefault(
    _ question: Question, _ app: AppID, _ out: inout DeviceLink.Output,
    _ effects: inout [DeviceEffect]
  ) {
    effects.append(.app(app, .asked(question.id, .answeredByDefault)))
    tell(app, .response(question, question.defaultChoice), &out, &effects)
  }

  private func isOnItsWay(_ id: QuestionID) -> Bool {
    conversation?.questions[id] != nil
      || link.waiting.contains {
        if case .ask(let header, _) = $0 { header.id == id } else { false }
      }
  }

  /// An open question of the same app about the same people (A6).
  private func openQuestion(like question: Question, _ app: AppID, _ now: Instant)
    -> QuestionState?
  {
    let subjects = Set(question.topic.handles.map(\.canonical))
    guard !subjects.isEmpty else { return nil }
    func isAlike(_ other: Question?) -> Bool {
      other.map { Set($0.topic.handles.map(\.canonical)) == subjects } ?? false
    }
    if let state = conversation?.inOrder.first(where: {
      $0.isOpen(now) && $0.header.app == app && isAlike($0.question)
    }) {
      return state
    }
    for case .ask(let header, .question(let waiting)) in link.waiting
    where header.app == app && isAlike(waiting) {
      return QuestionState(header: header, question: waiting, seq: 0, lastAsked: now)
    }
    return nil
  }
}
