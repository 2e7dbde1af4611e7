import FamilyCore
import FamilyModel

extension World {
  static func question(
    _ number: UInt64, _ handles: Handle..., choices: [Choice] = [.approve, .decline],
    expiration: Instant? = nil
  ) -> Question {
    let people = (handles.isEmpty ? [Handle("ada", .custom)] : handles).map { Subject(handle: $0) }
    return Question(
      id: ID128(high: 42, low: number), topic: .communication(people: people, actions: .message),
      choices: choices, expiration: expiration)
  }

  /// A question for the authorization of an app.
  static let authorizationQuestion = Question(
    id: QuestionID(high: 70, low: 1), topic: .authorization)

  /// A family in which a guardian has authorized the app.
  static func authorized() -> World {
    var world = World.withAccount()
    world.ask(authorizationQuestion)
    world.guardian(1, .answer(authorizationQuestion.id, choice: "approve"))
    world.wait(.seconds(2))
    return world
  }

  mutating func take(_ id: UInt32) -> [DeviceEffect] {
    defer { seen[id] = [] }
    return seen[id] ?? []
  }

  /// The prompt that the device currently shows.
  func prompt(_ id: UInt32) -> (number: UInt64, prompt: Prompt)? {
    for case .prompt(let number, let prompt, _) in (seen[id] ?? []).reversed() {
      return (number, prompt)
    }
    return nil
  }

  mutating func answerPrompt(_ answer: PromptAnswer, on id: UInt32 = 3) {
    guard let shown = prompt(id) else { return }
    child(id, .answered(prompt: shown.number, answer))
  }

  /// Attaches the app and asks the question by message.
  mutating func ask(_ question: Question, on id: UInt32 = 3, app: AppID = World.app) {
    child(id, .app(app, .attach(app: app, applied: 0)))
    child(id, .app(app, .register))
    child(id, .app(app, .ask(question, .choose)))
    answerPrompt(.askByMessage, on: id)
    answerPrompt(.send(names: []), on: id)
  }

  /// Types the passcode into the current prompt.
  mutating func type(_ typed: String, choice: String? = nil, on id: UInt32 = 3) {
    answerPrompt(.passcode(typed, choice: choice), on: id)
  }

  /// Kills the child's device 3, or else the relay, and waits for the recovery.
  mutating func kill(isDevice: Bool) {
    if isDevice {
      disconnect(3)
      restoreChild(3, 3)
      connect(3)
    } else {
      restartRelay()
    }
    wait(.minutes(1))
  }

  /// The id of the next command of modified software.
  var nextForged: CommandID {
    ID128(high: UInt64(machines.now.milliseconds) << 16 | 10, low: lastForged + 1)
  }

  /// Sends a command from a device with modified software.
  ///
  /// - Returns: The relay's refusal, or `nil` if the command was accepted.
  mutating func command(_ id: UInt32, _ command: Command) -> Problem? {
    defer { lastForged += 1 }
    return request(id, .max, .command(nextForged, command))
  }

  func outcome(_ question: Question, on id: UInt32 = 3) -> AskOutcome? {
    for case .app(_, .asked(question.id, let outcome)) in seen[id] ?? [] { return outcome }
    return nil
  }

  /// The responses that the app received, in order.
  func responses(on id: UInt32 = 3, app: AppID = World.app) -> [AppEntry] {
    (seen[id] ?? []).compactMap {
      if case .app(app, .entry(let entry)) = $0, case .response = entry.body { entry } else { nil }
    }
  }

  /// Acknowledges the app's first waiting entry. Positions begin at a random one.
  mutating func acknowledgeFirst(on id: UInt32 = 3, app: AppID = World.app) {
    let waiting = (machines.disks[id] ?? [:]).keys.compactMap {
      if case .entry(app, let position) = $0 { position } else { nil }
    }
    child(id, .app(app, .acknowledge(waiting.min()!)))
  }

  func bubbles(on id: UInt32) -> [Bubble] {
    (seen[id] ?? []).compactMap { if case .bubble(let bubble) = $0 { bubble } else { nil } }
  }

  func notices(on id: UInt32) -> [Notice] {
    (seen[id] ?? []).compactMap { if case .notify(let notice) = $0 { notice } else { nil } }
  }

  func phase(_ question: Question, on id: UInt32) -> QuestionState.Phase? {
    (machines.guardians[id]?.link ?? machines.children[id]!.link).conversations[Self.emily]?
      .questions[question.id]?.phase
  }

  /// A guardian sets the web rules of the child.
  mutating func setWeb(_ others: WebAccess, _ sites: [Site: WebAccess] = [:]) {
    var rules = WebRules()
    (rules.others, rules.sites) = (others, sites)
    guardian(1, .changeSettings(World.emily, .webRules(rules)))
    wait(.seconds(2))
  }
}
