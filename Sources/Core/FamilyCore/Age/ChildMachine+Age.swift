import FamilyModel

extension ChildMachine {
  func manifest(_ app: AppID) -> AppManifest { manifests[app] ?? AppManifest() }

  /// The device owner's settings, and what apps were told about the age (D10).
  public var age: AgeState { link.age(of: link.personID) }

  /// Why the app may not do anything on this device: it is rated above the child's ceiling (D13).
  func refusal(of app: AppID) -> Problem? {
    manifest(app).isAllowed(by: age.settings.ceiling) ? nil : .ratedAbove
  }

  /// Whether the device launches the app, or ends it.
  func isManaged(_ feed: AppFeed) -> Bool { feed.isRunning || refusal(of: feed.app) == nil }

  private func policy(now: Instant) -> AgePolicy? {
    guard let account = link.accounts[link.personID], !isInFamily || link.person != nil else {
      return nil
    }
    return AgePolicy(
      account: account, isInFamily: isInFamily, settings: age.settings,
      limitsOn: link.person?.role == .child && conversation?.limitsOn ?? true,
      today: calendar(now, account.timeZone))
  }

  /// What the law asks (D12). It depends on the region alone: an answer that depended on the age would change
  /// on a birthday.
  func ageStatus(of app: AppID) -> AgeReply {
    guard manifest(app).usesDeclaredAgeRange else { return .failed(.notDeclared) }
    guard let account = link.accounts[link.personID], account.birthdate != nil else {
      return .failed(.ageNotAvailable)
    }
    let features = Region(account.region).features
    return .status(isEligible: !features.isEmpty, features: features)
  }

  /// Answers the app's requests, up to one for which the person has to be asked.
  mutating func answerAges(
    of app: AppID, now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    while let request = ageRequests.first(of: app), !ageRequests.hasPrompt(for: app) {
      guard let reply = decide(request, now: now, into: &out, effects: &effects) else { return }
      ageRequests.remove(request)
      effects.append(.app(app, .age(request.id, reply)))
    }
  }

  /// The reply, or `nil`: the person is asked first.
  private mutating func decide(
    _ request: AgeRequestQueue.Request, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) -> AgeReply? {
    // An app that may not ask shows the person nothing (D14).
    guard manifest(request.app).usesDeclaredAgeRange else { return .failed(.notDeclared) }
    do throws(Problem) {
      try AgeGates.check(request.gates)
      guard let policy = policy(now: now) else { throw .ageNotAvailable }
      switch try policy.decide(request.gates, of: request.app, age.memory(request.app)) {
      case .reply(let range): return range.map { .shared($0) } ?? .declined
      case .share(let answer, let isNew):
        if let problem = note(answer, request.app, now: now, into: &out) { throw problem }
        let range = policy.withControls(answer.range!)
        if isNew { effects.append(.notify(.ageShared(request.app, range))) }
        return .shared(range)
      case .prompt(let answer):
        let prompt = show(
          .ageRange(request.app, policy.withControls(answer.range!)), effects: &effects)
        ageRequests.startFlow(prompt, .share(request.app, answer))
        return nil
      }
    } catch { return .failed(error) }
  }

  private mutating func note(
    _ answer: AgeAnswer, _ app: AppID, now: Instant, into out: inout DeviceLink.Output
  ) -> Problem? {
    change(
      .noteAge(link.personID, .ageMemory(app, answer)), link.nextID(now: now), now: now, into: &out)
  }

  // MARK: answers of people

  mutating func agePromptAnswered(
    _ prompt: UInt64, of flow: AgeRequestQueue.Flow, with answer: PromptAnswer, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    switch (flow, answer) {
    case (.share(let app, let shown), .share):
      share(shown, with: app, now: now, into: &out, effects: &effects)
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.share(let app, let shown), .dontShare):
      let declined = AgeAnswer(gates: shown.gates, day: shown.day, range: nil)
      if let problem = note(declined, app, now: now, into: &out) {
        reply(.failed(problem), to: app, effects: &effects)
      }
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.share(let app, _), _):
      // Left without an answer: declined for now, and the app may ask again.
      reply(.declined, to: app, effects: &effects)
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.passcode(let settings), .passcode(let typed, _)):
      check(typed, settings, prompt, now: now, into: &out, effects: &effects)
    case (.passcode, _): break
    case (.checking, _): ageRequests.startFlow(prompt, flow)
    }
  }

  /// What the person agreed to share, and nothing else: where the answer has become another one since, the
  /// request is looked at anew.
  private mutating func share(
    _ shown: AgeAnswer, with app: AppID, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard let policy = policy(now: now),
      case .prompt(shown)? = try? policy.decide(shown.gates, of: app, age.memory(app))
    else { return }
    if let problem = note(shown, app, now: now, into: &out) {
      reply(.failed(problem), to: app, effects: &effects)
    }
  }

  private mutating func reply(
    _ reply: AgeReply, to app: AppID, effects: inout [DeviceEffect]
  ) {
    guard let request = ageRequests.first(of: app) else { return }
    ageRequests.remove(request)
    effects.append(.app(app, .age(request.id, reply)))
  }

  // MARK: settings

  mutating func set(
    _ settings: AgeSettings, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    let command = Command.setAge(link.personID, .ageSettings(settings), proof: [])
    do throws(Problem) { try settings.validate() } catch {
      return effects.append(.notify(.refused(command, error)))
    }
    guard isInFamily, link.person?.role == .child else {
      return changeAge(command, now: now, into: &out, effects: &effects)
    }
    guard link.passcode != nil else { return effects.append(.notify(.noPasscode)) }
    askPasscode(settings, wrong: false, now: now, effects: &effects)
  }

  private mutating func askPasscode(
    _ settings: AgeSettings, wrong: Bool, now: Instant, effects: inout [DeviceEffect]
  ) {
    let prompt = show(
      .ageSettings(settings, wait: tries.remainingWait(now: now), wrong: wrong), effects: &effects)
    ageRequests.startFlow(prompt, .passcode(settings))
  }

  /// Counts the try, durably, and has it checked after that (A4).
  private mutating func check(
    _ typed: String, _ settings: AgeSettings, _ prompt: UInt64, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    guard tries.remainingWait(now: now) == 0, let passcode = link.passcode else {
      return askPasscode(settings, wrong: false, now: now, effects: &effects)
    }
    tries.countAttempt(now: now)
    out.changes.append(.put(.passcodeTries(tries)))
    let id = link.nextID(now: now)
    ageRequests.startFlow(prompt, .checking(settings, id))
    let bytes = InPerson.signedBytes(
      family: link.address.family, child: link.personID, command: id)
    effects.append(.checkPasscode(prompt: prompt, typed: typed, passcode, sign: bytes))
  }

  mutating func passcodeChecked(
    _ flow: AgeRequestQueue.Flow, _ proof: [UInt8]?, now: Instant,
    into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard case .checking(let settings, let id) = flow else { return }
    guard let proof else { return askPasscode(settings, wrong: true, now: now, effects: &effects) }
    tries = PasscodeTries()
    out.changes.append(.delete(.passcodeTries))
    let command = Command.setAge(link.personID, .ageSettings(settings), proof: proof)
    if let problem = change(command, id, now: now, into: &out) {
      effects.append(.notify(.refused(command, problem)))
    }
  }

  mutating func changeAge(
    _ command: Command, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    if let problem = change(command, link.nextID(now: now), now: now, into: &out) {
      effects.append(.notify(.refused(command, problem)))
    }
  }

  /// Through the relay to all devices of the person, or, in no family group, on this one alone.
  private mutating func change(
    _ command: Command, _ id: CommandID, now: Instant, into out: inout DeviceLink.Output
  ) -> Problem? {
    do throws(Problem) {
      if isInFamily {
        try link.send(command, id: id, now: now, into: &out)
        return nil
      }
    } catch { return error }
    switch command {
    case .noteAge(_, let content):
      link.applyLocally(.ageNoted(link.personID, content), id: id, now: now, into: &out)
    case .setAge(_, let content, _):
      link.applyLocally(.ageSet(link.personID, content, proof: []), id: id, now: now, into: &out)
    default: return .notPermitted
    }
    return nil
  }

  /// A child's account is not the child's to change (F5): the relay says so, and every device.
  mutating func setOwn(_ account: Account, now: Instant, into out: inout DeviceLink.Output) {
    guard !isInFamily else {
      send(.setAccount(link.personID, .account(account)), now: now, into: &out)
      return
    }
    let body = Event.Body.accountChanged(link.personID, .account(account))
    link.applyLocally(body, id: link.nextID(now: now), now: now, into: &out)
  }
}
