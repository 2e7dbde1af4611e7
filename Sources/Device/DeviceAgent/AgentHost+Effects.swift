import Credentials
import DeviceTurn
public import FamilyCore
public import FamilyModel
import Foundation
import RelayWire
import SystemClock

extension AgentHost {
  /// Carries out one effect. Precondition: the changes on which the effect depends are durable.
  func carryOut(_ effect: HostEffect) {
    switch effect {
    case .send(let envelope, let key):
      guarded { _ = try self.connections[key]?.requests.socket.send([[], envelope.encode()]) }
    case .subscribe(let topic, let key):
      guarded { try self.connections[key]?.broadcasts.socket.subscribe(topic) }
    case .unsubscribe(let topic, let key):
      guarded { try self.connections[key]?.broadcasts.socket.unsubscribe(topic) }
    case .local(let effect, let address): carryOut(effect, on: address)
    }
  }

  private func carryOut(_ effect: DeviceEffect, on address: DeviceAddress) {
    switch effect {
    case .persist, .requestAdmission, .send, .listen: break
    case .app(let app, let reply): send(reply, to: app, on: address)
    case .launch(let app, _): launch(app, on: address)
    case .terminate(let app): launcher.terminate(name: launchName(address, app))
    case .prompt(let number, let prompt, let window):
      show(prompt, number, in: window, on: address)
    case .checkPasscode(let prompt, let attempt, let evaluation, let passcode, let bytes):
      checkPasscode(attempt, evaluation, passcode, bytes, for: prompt, on: address)
    case .checkPicture(let number, let picture): check(picture, number, on: address)
    case .derivePasscode(let attempt, let evaluation):
      derivePasscode(attempt, evaluation, on: address)
    case .bubble(let bubble): show(bubble, on: address)
    case .consentChanged(_, let isWithdrawn, _):
      trace(isWithdrawn ? "consent-withdrawn" : "consent-given", device: address)
    case .notify(let notice): notify(notice, on: address)
    case .makeSnapshot(let number): makeSnapshot(number, of: address)
    case .alert(let notification): alert(notification, on: address)
    }
  }

  private func alert(_ notification: DeviceNotification, on address: DeviceAddress) {
    guard let desktop = configuration.desktop,
      Instant.now < notification.at + DesktopNotifications.maximumAge,
      let text = desktop.text(notification.notice, host.devices[address]?.guardian != nil)
    else { return }
    trace("desktop", device: address)
    desktop.show(text)
  }

  /// The name of the app's process at the launcher.
  func launchName(_ address: DeviceAddress, _ app: AppID) -> String {
    "\(address.family.rawValue)-\(address.device.rawValue)-\(app.rawValue)"
  }

  private func launch(_ app: AppID, on address: DeviceAddress) {
    trace("launch", device: address)
    if let localApps {
      for input in localApps.launch(app, on: address) { act(input, on: address) }
      return
    }
    guard let installed = installed(app, on: address) else { return }
    let name = launchName(address, app)
    Task { [weak self, launcher] in
      let end = await launcher.run(installed, name: name) { [weak self] process, isConfined in
        Task { [weak self] in
          await self?.launched(app, process, isConfined: isConfined, on: address)
        }
      }
      await self?.launchEnded(app, end, on: address)
    }
  }

  /// Records that an app's process has exited, or that the app is unreachable.
  func appEnded(_ app: AppID, exited: Bool, on address: DeviceAddress) {
    host.act(.appGone(app, exited: exited), on: address)
  }

  private func show(
    _ prompt: Prompt, _ number: UInt64, in window: String, on address: DeviceAddress
  ) {
    switch prompt {
    case .permission(_, let question): trace("prompt", device: address, question: question.id)
    case .compose(_, let question, _): trace("compose", device: address, question: question.id)
    case .alreadyAsked(_, let question, _):
      trace("already-asked", device: address, question: question.id)
    case .passcode(_, let question, _, _):
      trace("passcode", device: address, question: question.id)
    case .acknowledge(_, let question):
      trace("acknowledge", device: address, question: question.id)
    case .ageRange: trace("age-prompt", device: address)
    case .ageSettings: trace("age-settings", device: address)
    }
    guard let responder else { return }
    // The task runs on this actor's thread: an immediate answer costs no thread switch.
    Task {
      let answer = await responder.answer(prompt, in: window, on: address)
      answered(number, answer, on: address)
    }
  }

  /// Signs with the typed passcode. Runs on another thread, because scrypt is slow by design.
  private func checkPasscode(
    _ attempt: PasscodeAttempt, _ evaluation: PasscodeEvaluation, _ passcode: Passcode,
    _ bytes: [UInt8], for prompt: UInt64, on address: DeviceAddress
  ) {
    Task {
      let proof = await Task.detached {
        PasscodeCipher.sign(bytes, with: attempt, evaluation, of: passcode)
      }.value
      trace(proof == nil ? "wrong-passcode" : "right-passcode", device: address)
      act(ChildMachine.Input.passcodeChecked(prompt: prompt, proof: proof), on: address)
    }
  }

  /// Derives a new passcode on another thread, because scrypt is slow by design.
  private func derivePasscode(
    _ attempt: PasscodeAttempt, _ evaluation: PasscodeEvaluation, on address: DeviceAddress
  ) {
    Task {
      let result = await Task.detached {
        Result { () throws(Problem) in try PasscodeCipher.make(attempt, evaluation) }
      }.value
      switch result {
      case .success(let passcode):
        act(GuardianMachine.Input.setPasscode(passcode), on: address)
      case .failure(let problem): notify(.passcodeNotSet(problem), on: address)
      }
    }
  }

  private func answered(_ number: UInt64, _ answer: PromptAnswer, on address: DeviceAddress) {
    host.act(.answered(prompt: number, answer), on: address)
  }

  private func show(_ bubble: Bubble, on address: DeviceAddress) {
    trace("bubble", device: address, question: bubble.question.id)
    guard let responder else { return }
    Task {
      guard let answer = await responder.answer(bubble) else { return }
      self.answer(bubble, answer, on: address)
    }
  }

  private func answer(_ bubble: Bubble, _ answer: BubbleAnswer, on address: DeviceAddress) {
    let seen = answer.reviewed ? (bubble.child.id, bubble.seq) : nil
    self.answer(bubble.question.id, answer.choice, seen: seen, on: address)
  }

  /// Answers a question on a guardian's device.
  ///
  /// - Parameter seen: The child and the number of a question that the guardian has reviewed first.
  package func answer(
    _ question: QuestionID, _ choice: String, seen: (child: PersonID, seq: UInt64)?,
    on address: DeviceAddress
  ) {
    if let seen {
      trace("review", device: address, question: question)
      act(.seen(child: seen.child, seq: seen.seq), on: address)
    }
    trace("answer", device: address, question: question)
    act(.answer(question, choice: choice), on: address)
  }

  /// Applies an input of a guardian to one of the hosted devices.
  public func act(_ input: GuardianMachine.Input, on address: DeviceAddress) {
    host.act(input, on: address)
  }

  /// Applies an input of a child or an app to one of the hosted devices.
  public func act(_ input: ChildMachine.Input, on address: DeviceAddress) {
    host.act(input, on: address)
  }

  private func notify(_ notice: Notice, on address: DeviceAddress) {
    responder?.notified(notice, on: address)
    switch notice {
    case .decided(let id, _, _): trace("decided", device: address, question: id)
    case .refused(let command, let problem):
      trace("refused", device: address, question: command.question, problem: problem)
      logger.warning("the relay refused a command: \(problem)")
    case .noPasscode: trace("no-passcode", device: address)
    case .passcodeNotSet(let problem):
      trace("passcode-not-set", device: address, problem: problem)
    case .message: trace("message", device: address)
    case .reminded(let id): trace("reminded", device: address, question: id)
    case .withdrawn: trace("withdrawn", device: address)
    case .wantsToJoin: trace("wants-to-join", device: address)
    case .deviceAdded: trace("device-added", device: address)
    case .ageShared: trace("age-shared", device: address)
    case .ratingRaised, .ratingsRaised: trace("rating-raised", device: address)
    case .eventRejected(let problem):
      counters.rejectedEvents += 1
      host.devices[address]?.rejectedEvents += 1
      isStatusStale = true
      trace("disbelieved", device: address, problem: problem)
      logger.error("rejected an event of the relay: \(problem)")
    case .historyLost(let audience, let seqs):
      let facts = [
        ("audience", "\(audience.rawValue)"), ("first", "\(seqs.lowerBound)"),
        ("last", "\(seqs.upperBound)"),
      ]
      trace("history-lost", device: address, problem: .forked, facts: facts)
      logger.error(
        """
        the relay no longer shows the events \(seqs.lowerBound) to \(seqs.upperBound) of the audience \
        \(audience.rawValue), which this device has read: \(Problem.forked)
        """)
    case .unopened(let count):
      isStatusStale = true
      trace(
        "cannot-open", device: address, problem: .missingKey, facts: [("contents", "\(count)")])
      logger.warning("this device cannot open \(count) messages yet: \(Problem.missingKey)")
    case .appRejected(_, let problem):
      counters.rejectedEvents += 1
      host.devices[address]?.rejectedEvents += 1
      isStatusStale = true
      trace("app-disbelieves", device: address, problem: problem)
      logger.error("an app rejected a message of this device: \(problem)")
    case .shutOut(let problem):
      guard host.devices[address]?.refusal != problem else { return }
      host.devices[address]?.refusal = problem
      isStatusStale = true
      trace("shut-out", device: address, problem: problem)
      let cause =
        problem.concernsVersion
        ? problem.entry.map { "\($0.cause) \($0.nextStep)" } ?? ""
        : "The device was removed, or `relayctl apply` was never run for its family."
      logger.error("the relay refuses this device (\(problem)). \(cause)")
    }
  }
}
