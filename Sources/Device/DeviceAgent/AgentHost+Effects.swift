import Credentials
public import FamilyCore
public import FamilyModel
import Foundation
import RelayWire
import SystemClock

extension AgentHost {
  /// Carries out one effect. What it depends on is durable.
  func carryOut(_ effect: DeviceEffect, for address: DeviceAddress) {
    switch effect {
    case .persist, .requestAdmission: break
    case .send(let id, let request): send(id, request, of: address)
    case .listen(let channels, let anew): listen(channels, anew: anew, of: address)
    case .app(let app, let reply): tell(app, reply, on: address)
    case .launch(let app, _): launch(app, on: address)
    case .terminate(let app): launcher.terminate(name: launchName(address, app))
    case .prompt(let number, let prompt): ask(prompt, number, on: address)
    case .checkPasscode(let prompt, let typed, let passcode, let bytes):
      check(typed, passcode, bytes, for: prompt, on: address)
    case .bubble(let bubble): show(bubble, on: address)
    case .notify(let notice): notify(notice, on: address)
    }
  }

  func launchName(_ address: DeviceAddress, _ app: AppID) -> String {
    "\(address.family.rawValue)-\(address.device.rawValue)-\(app.rawValue)"
  }

  private func launch(_ app: AppID, on address: DeviceAddress) {
    trace("launch", device: address)
    if let localApps {
      for input in localApps.launch(app, on: address) { act(input, on: address) }
      return
    }
    guard let command = configuration.apps[app], let executable = command.first else { return }
    let installed = Launcher.Installed(
      executable: executable, arguments: Array(command.dropFirst()) + ["background"],
      credential: AppSocket.credentialFile(configuration, address, app),
      log: configuration.directory.appendingPathComponent("\(launchName(address, app)).log"))
    let name = launchName(address, app)
    Task { [weak self, launcher] in
      await launcher.run(installed, name: name)
      await self?.appGone(app, exited: true, on: address)
    }
  }

  func appGone(_ app: AppID, exited: Bool, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    let effects = device.child?.step(.appGone(app, exited: exited), now: .now) ?? []
    perform(effects, for: address)
  }

  private func ask(_ prompt: Prompt, _ number: UInt64, on address: DeviceAddress) {
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
    // On this actor's thread: an answer that needs no waiting costs no switch to another one.
    Task {
      let answer = await responder.answer(prompt)
      answered(number, answer, on: address)
    }
  }

  /// scrypt takes its time by intent: on another thread.
  private func check(
    _ typed: String, _ passcode: Passcode, _ bytes: [UInt8], for prompt: UInt64,
    on address: DeviceAddress
  ) {
    Task {
      let proof = await Task.detached {
        PasscodeCipher.sign(bytes, with: typed, of: passcode)
      }.value
      trace(proof == nil ? "wrong-passcode" : "right-passcode", device: address)
      act(ChildMachine.Input.passcodeChecked(prompt: prompt, proof: proof), on: address)
    }
  }

  private func answered(_ number: UInt64, _ answer: PromptAnswer, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    perform(
      device.child?.step(.answered(prompt: number, answer), now: .now) ?? [], for: address)
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
    if answer.reviewed {
      trace("review", device: address, question: bubble.question.id)
      act(.seen(child: bubble.child.id, seq: bubble.seq), on: address)
    }
    trace("answer", device: address, question: bubble.question.id)
    act(.answer(bubble.question.id, choice: answer.choice), on: address)
  }

  /// Something that a guardian does on one of the hosted devices.
  public func act(_ input: GuardianMachine.Input, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    perform(device.guardian?.step(input, now: .now) ?? [], for: address)
  }

  /// Something that a child does on one of the hosted devices.
  public func act(_ input: ChildMachine.Input, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    perform(device.child?.step(input, now: .now) ?? [], for: address)
  }

  private func notify(_ notice: Notice, on address: DeviceAddress) {
    responder?.notified(notice, on: address)
    switch notice {
    case .decided(let id, _, _): trace("decided", device: address, question: id)
    case .refused(let command, let problem):
      trace("refused", device: address, question: command.question, problem: problem)
      logger.warning("the relay refused a command: \(problem)")
    case .noPasscode: trace("no-passcode", device: address)
    case .message: trace("message", device: address)
    case .reminded(let id): trace("reminded", device: address, question: id)
    case .withdrawn: trace("withdrawn", device: address)
    case .wantsToJoin: trace("wants-to-join", device: address)
    case .ageShared: trace("age-shared", device: address)
    case .disbelieved(let problem):
      counters.disbelieved += 1
      devices[address]?.disbelieved += 1
      statusIsStale = true
      trace("disbelieved", device: address, problem: problem)
      logger.error("the relay handed over an event that is not believed: \(problem)")
    case .appDisbelieves(_, let problem):
      counters.disbelieved += 1
      devices[address]?.disbelieved += 1
      statusIsStale = true
      trace("app-disbelieves", device: address, problem: problem)
      logger.error("an app does not believe what this device told it: \(problem)")
    case .shutOut(let problem):
      guard devices[address]?.shutOut != problem else { return }
      devices[address]?.shutOut = problem
      trace("shut-out", device: address, problem: problem)
      logger.error(
        "the relay does not let this device in (\(problem)): it was removed, or its family was never applied"
      )
    }
  }
}
