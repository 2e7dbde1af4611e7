import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

extension World {
  /// Carries out a step: an action of a person or a fault.
  func act(_ act: Act) {
    if act.isFault { return inject(act) }
    switch act {
    case .online(let index):
      devices[index].isOnline = true
      connect(index)
    case .offline(let index):
      devices[index].isOnline = false
      disconnect(index)
    case .open(let index, let app): open(index, app)
    case .ask(let index, let app, let inquiry): ask(inquiry, index, app)
    case .post(let index):
      // The second text follows before the relay has the first one.
      for text in random.chance(40) ? ["a", "b"] : ["a"] {
        child(index, .post(text))
        if let first = devices[index].guardian?.link.roster.children.first {
          guardian(index, .post(child: first.id, text))
        }
      }
    case .cancel(let index):
      let open = devices[index].child?.conversation?.questions.unanswered.last
      if let open { child(index, .cancel(open.header.id)) }
    case .withdraw(let index, let handle, let everywhere):
      forChild(index) {
        .withdraw(child: $0, .handle(handle, in: everywhere ? nil : Scenario.apps[0]))
      }
    case .withdrawConsent(let index, let app):
      guard devices[index].isRunning else { return }
      // A guardian who sees the consent withdrawn gives the consent back.
      let (app, link) = (Scenario.apps[app], devices[index].link)
      forChild(index) {
        let isWithdrawn = link.conversations[$0]?.consents.isWithdrawn(app) ?? false
        return .withdraw(child: $0, isWithdrawn ? .consentGiven(app) : .consent(app))
      }
    case .contact(let index, let handle, let known):
      forChild(index) { .changeContact(child: $0, handle, known: known) }
    case .limits(let index, let on): forChild(index) { .setLimits(child: $0, on: on) }
    case .passcode(let index, let typed): guardian(index, .choosePasscode(typed))
    case .account(let index, let account): forChild(index) { .setAccount($0, account) }
    case .askAge(let index, let app, let gates): askAge(gates, index, app)
    case .shareAgain(let index, let app): child(index, .shareAgain(Scenario.apps[app]))
    case .ageSettings(let index, let settings): forChild(index) { .setAge($0, settings) }
    case .setting(let index, let content): forChild(index) { .changeSettings($0, content) }
    case .browse(let index, let app, let site): browse(index, app, site)
    case .authorize(let index, let app): authorize(index, app)
    case .manage(let index, let app, let settings): manage(index, app, settings)
    case .showPages(let index, let app, let site, let seconds):
      showPages(index, app, site, seconds: seconds)
    case .deleteHistory(let index, let app, let part): deleteHistory(index, app, part)
    case .addChild(let index): guardian(index, .addChild(displayName: "New"))
    case .administrate(let family, let change): administrate(family, change)
    case .eavesdrop(let index, let family, let audience):
      eavesdrop(index, FamilyID(UInt64(family) + 1), audience)
    case .attack(let index, let seed): attack(index, seed)
    case .expel(let index, let removed, let withPlants):
      expel(by: index, removed, withPlants: withPlants)
    case .crash, .slow, .link, .cut, .disk, .flip, .clock, .evict: break
    }
  }

  private func forChild(_ index: Int, _ input: (PersonID) -> GuardianMachine.Input) {
    guard let children = devices[index].guardian?.link.roster.children, !children.isEmpty else {
      return
    }
    guardian(index, input(random.pick(children).id))
  }

  // MARK: the child

  /// Opens an app.
  ///
  /// - Returns: Whether the device has the app.
  @discardableResult
  func open(_ index: Int, _ app: Int) -> Bool {
    guard devices[index].apps.indices.contains(app) else { return false }
    devices[index].apps[app].openUntil = now + random.milliseconds(500...15_000)
    startApp(index, app, byDevice: false)
    return true
  }

  private func ask(_ inquiry: Act.QuestionPlan, _ index: Int, _ app: Int) {
    guard open(index, app) else { return }
    let process = devices[index].apps[app]
    // An app that lost the outcome of its last question repeats the question.
    if let (question, manner) = process.unansweredQuestion, random.chance(60) {
      return step(.ask(question, manner), index, app)
    }
    var choices = [Choice.approve, .decline]
    if inquiry.hasThreeChoices {
      choices.insert(Choice(id: "hour", title: "One hour", answer: .approval), at: 1)
    }
    let topic: Topic =
      inquiry.handles.isEmpty
      ? .significantUpdate(description: "New")
      : .communication(people: inquiry.handles.map { Subject(handle: $0) }, actions: .message)
    let question = Question(
      id: inquiry.id, topic: topic, choices: choices,
      expiration: inquiry.expiresAfter.map { clock(devices[index].clock) + $0 })
    let manner = AskManner(rawValue: inquiry.manner) ?? .choose
    process.unansweredQuestion = (question, manner)
    step(.ask(question, manner), index, app)
  }

  private func askAge(_ gates: [Int32], _ index: Int, _ app: Int) {
    guard open(index, app) else { return }
    let process = devices[index].apps[app]
    process.lastAge += 1
    record(.requestedAge(AppAddress(devices[index].address, process.id), gates))
    step(.askAge(process.lastAge, gates: gates), index, app)
  }

  /// Whether the person consents to share the age with the app. The `ageConsent` mutant skips the
  /// question.
  private func mayShare(_ app: AppID, _ device: SimulatedDevice) -> Bool {
    if mutant == .ageConsent { return true }
    let isAgreed = random.chance(50)
    if isAgreed { record(.consented(AppAddress(device.address, app))) }
    return isAgreed
  }

  func answer(_ prompt: Prompt, _ number: UInt64, _ device: SimulatedDevice, _ index: Int) {
    let answer: PromptAnswer =
      switch prompt {
      case .permission: random.chance(90) ? .askByMessage : random.chance(50) ? .inPerson : .cancel
      case .compose: random.chance(95) ? .send(names: []) : .cancel
      case .alreadyAsked(_, _, let mayRemind): mayRemind ? .remind : .cancel
      case .passcode(_, _, .zero, _) where mutant == .guessCount && !hasHealed:
        // A child tries passcodes.
        .passcode("\(100_000 + random.below(900_000))", choice: nil)
      case .passcode(_, _, let wait, let failure):
        hasHealed || wait > .zero || (failure != nil && random.chance(50))
          ? .cancel : .passcode(random.chance(70) ? "258013" : "111111", choice: nil)
      case .acknowledge: .acknowledge
      case .ageRange(let app, _): mayShare(app, device) ? .share : .dontShare
      case .ageSettings: .cancel
      }
    queue.schedule(
      .promptAnswer(index, life: device.life, number, answer),
      at: now + random.milliseconds(200...3_000))
  }

  // MARK: guardians

  func guardianReacts(to bubble: Bubble, _ device: SimulatedDevice, _ index: Int) {
    guard !hasHealed, random.chance(75) else { return }
    if random.chance(30) {
      queue.schedule(
        .guardianSees(index, life: device.life, bubble.child.id, seq: bubble.seq),
        at: now + random.milliseconds(100...2_000))
    }
    let wait =
      random.chance(80) ? random.milliseconds(300...4_000) : random.milliseconds(4_000...50_000)
    queue.schedule(
      .guardianAnswers(
        index, life: device.life, bubble.question.id,
        choice: random.pick(bubble.question.choices).id), at: now + wait)
  }

  // MARK: eavesdropping

  /// A device subscribes to the inboxes of a family's other devices and fetches from an audience.
  private func eavesdrop(_ index: Int, _ family: FamilyID, _ audience: Audience) {
    let device = devices[index]
    for other in devices where other !== device && other.address.family == family {
      guard let topic = other.inbox?.bytes, !device.foreignTopics.contains(topic) else { continue }
      // The device repeats the subscription after every reconnection.
      device.foreignTopics.append(topic)
      subscribe(index, topic)
    }
    let address = DeviceAddress(family: family, device: device.plan.id)
    send(
      Envelope(device: address, requestID: .max, request: .fetch(audience, after: 0)), from: index)
  }
}
