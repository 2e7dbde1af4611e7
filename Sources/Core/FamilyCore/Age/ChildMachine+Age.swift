public import FamilyModel

extension ChildMachine {
  func manifest(_ app: AppID) -> AppManifest { manifests[app] ?? AppManifest() }

  /// The owner's age settings and age answers.
  public var age: AgeState { link.age(of: link.personID) }

  /// The problem if the app is rated above the child's ceiling, or if another app blocks it. Such an app
  /// is refused everything.
  func refusal(of app: AppID) -> Problem? {
    guard manifest(app).isAllowed(by: age.settings.ceiling) else { return .ratedAbove }
    return isBlocked(app) ? .appBlocked : nil
  }

  /// Whether the device manages the process of the app.
  func isManaged(_ feed: AppFeed) -> Bool { feed.isRunning || refusal(of: feed.app) == nil }

  /// The time that decides about ages: without a family that of the device, otherwise the relay's.
  func ageTime(now: Instant) -> Instant {
    isInFamily ? relayTime.now(uptime: uptime) ?? now : now
  }

  /// The rating in the app's manifest. An app above the ceiling may know its own rating.
  func rating(of app: AppID) -> AgeReply {
    feeds.contains { $0.app == app } ? .rating(manifest(app).ageRating) : .failed(.notEnrolled)
  }

  /// The policy for the owner; `nil` without an account, or before the first roster.
  func agePolicy(now: Instant) -> AgePolicy? {
    guard !isInFamily || link.person != nil else { return nil }
    return AgePolicy(
      of: link.personID, in: link, isInFamily: isInFamily, regions: regions, calendar: calendar,
      now: ageTime(now: now))
  }

  /// Explains each age answer that an app received from this device's owner, by app.
  public func ageExplanations(now: Instant) -> [AgeExplanation] {
    guard let policy = agePolicy(now: now) else { return [] }
    return age.apps.flatMap { policy.explanations(of: $0, age.memory($0)) }
  }

  /// The duties of the owner's region. The reply depends on the region, the day and the day of the
  /// account: one that depended on the age would reveal a birthday.
  func ageStatus(of app: AppID, now: Instant) -> AgeReply {
    guard manifest(app).usesDeclaredAgeRange else { return .failed(.notDeclared) }
    if let sandbox = age.settings.sandbox?.answers {
      return .status(isEligible: true, features: sandbox.features)
    }
    guard let policy = agePolicy(now: now) else { return .failed(.noAccount) }
    guard policy.account.birthdate != nil else { return .failed(.ageNotAvailable) }
    let region = policy.region
    return .status(isEligible: region.isEligible, features: region.features)
  }

  /// Answers the app's requests in order, up to the first that needs a prompt.
  mutating func answerAges(
    of app: AppID, now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    while let request = ageRequests.first(of: app), !ageRequests.hasPrompt(for: app) {
      guard let reply = decide(request, now: now, into: &out, effects: &effects) else { return }
      ageRequests.remove(request)
      effects.append(.app(app, .age(request.id, reply)))
    }
  }

  /// Decides a request.
  ///
  /// - Returns: The reply, or `nil` if a prompt is shown first.
  private mutating func decide(
    _ request: AgeRequestQueue.Request, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) -> AgeReply? {
    // An app that does not declare its use of age ranges must not cause a prompt.
    guard manifest(request.app).usesDeclaredAgeRange else { return .failed(.notDeclared) }
    do throws(Problem) {
      if link.isShutOut { throw .notEnrolled }
      try AgeGates.check(request.gates)
      if let sandbox = age.settings.sandbox?.answers {
        return .shared(sandbox.range(limitsOn: link.limitsOn(for: link.personID)))
      }
      guard let policy = agePolicy(now: now) else { throw .noAccount }
      switch try policy.decide(request.gates, of: request.app, age.memory(request.app)) {
      case .reply(let range): return range.map { .shared($0) } ?? .declined
      case .share(let answer, let isNew):
        if let problem = record(answer, request.app, now: now, into: &out) { throw problem }
        let range = policy.withControls(answer.range!)
        if isNew { effects.append(.notify(.ageShared(request.app, range))) }
        return .shared(range)
      case .prompt(let answer):
        let prompt = show(
          .ageRange(request.app, policy.withControls(answer.range!)), window: request.window,
          effects: &effects)
        ageRequests.startFlow(prompt, .share(request.app, answer))
        return nil
      }
    } catch { return .failed(error) }
  }

  private mutating func record(
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
    // The app's request has failed already, and its prompt reveals nothing any more.
    case (.share(let app, _), _) where consents.isWithdrawn(app): break
    case (.share(let app, let shown), .share):
      share(shown, with: app, now: now, into: &out, effects: &effects)
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.share(let app, let shown), .dontShare):
      let declined = AgeAnswer(gates: shown.gates, day: shown.day, range: nil)
      if let problem = record(declined, app, now: now, into: &out) {
        reply(.failed(problem), to: app, effects: &effects)
      }
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.share(let app, _), _):
      // A cancelled prompt declines this request only; the app may ask again.
      reply(.declined, to: app, effects: &effects)
      answerAges(of: app, now: now, into: &out, effects: &effects)
    case (.passcode(let settings), .passcode(let typed, _)):
      check(typed, settings, prompt, now: now, into: &out, effects: &effects)
    case (.passcode, _): break
    case (.evaluating, _), (.checking, _): ageRequests.startFlow(prompt, flow)
    }
  }

  /// Shares exactly the answer that the person saw. If the answer has changed since, the request
  /// stays and is decided again.
  private mutating func share(
    _ shown: AgeAnswer, with app: AppID, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard let policy = agePolicy(now: now),
      case .prompt(shown)? = try? policy.decide(shown.gates, of: app, age.memory(app))
    else { return }
    if let problem = record(shown, app, now: now, into: &out) {
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
    askPasscode(settings, effects: &effects)
  }

  mutating func changeAge(
    _ command: Command, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    if let problem = change(command, link.nextID(now: now), now: now, into: &out) {
      effects.append(.notify(.refused(command, problem)))
    }
  }

  /// Sends the change to all devices of the person or, without a family, applies it on this device
  /// alone.
  mutating func change(
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

  /// Sets the owner's account. The relay and every device reject a change of a child's account by
  /// the child.
  mutating func setOwn(
    _ account: Account, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    let command = Command.setAccount(link.personID, .account(account))
    do throws(Problem) {
      try account.validate(now: now)
      if isInFamily {
        if link.person?.role == .child { throw .notPermitted }
        return try link.send(command, id: link.nextID(now: now), now: now, into: &out)
      }
    } catch { return effects.append(.notify(.refused(command, error))) }
    let body = Event.Body.accountChanged(link.personID, .account(account))
    link.applyLocally(body, id: link.nextID(now: now), now: now, into: &out)
  }
}
