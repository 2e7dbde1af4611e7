import FamilyCore
import FamilyHarness
import FamilyModel
import FamilyTrust

extension InMemoryFamily {
  mutating func carryOut(_ effect: DeviceEffect, of device: UInt32) {
    switch effect {
    case .persist, .send, .listen, .consentChanged: break
    case .requestAdmission(let id): step(.admitted(id))
    case .app(_, let reply): process?.deliver(.reply(reply))
    case .launch:
      launches += 1
      if isLaunchable {
        pendingLaunches += 1
      } else {
        step(.appGone(app, exited: true))
      }
    case .terminate: isTerminated = true
    case .prompt(let number, let prompt, let window):
      promptWindows.append(window)
      if case .ageRange = prompt { agePrompts += 1 }
      step(.answered(prompt: number, answer(prompt)))
    case .checkPasscode(let prompt, let attempt, _, let passcode, let bytes):
      let keys = Self.passcodeKeys(attempt.typed)
      let proof = keys.signingKey == passcode.publicKey ? KeyVault(keys).sign(bytes) : nil
      step(.passcodeChecked(prompt: prompt, proof: proof))
    case .derivePasscode(let attempt, let evaluation):
      act(device, .setPasscode(Self.passcode(attempt.typed, evaluation)))
    case .bubble(let bubble): planAnswer(to: bubble, on: device)
    case .alert: break
    case .notify(let notice): if device == Self.childDevice { notices.append(notice) }
    }
  }

  /// A passcode without scrypt: the key is the typed text, padded with zeros.
  private static func passcode(_ typed: String, _ evaluation: PasscodeEvaluation) -> Passcode {
    Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: passcodeKeys(typed).signingKey,
      relayKey: evaluation.relayKey)
  }

  private static func passcodeKeys(_ typed: String) -> DeviceKeys {
    let secret = Array((Array(typed.utf8) + Array(repeating: 0, count: 32)).prefix(32))
    return DeviceKeys(signingSecret: secret, agreementSecret: secret)!
  }

  // MARK: people

  private func answer(_ prompt: Prompt) -> PromptAnswer {
    var plan = TestChild.Answer.askByMessage
    if case .child(let chosen) = plans[Self.childDevice] { plan = chosen }
    return switch (prompt, plan.kind) {
    case (.alreadyAsked(_, _, let mayRemind), .remind) where mayRemind: .remind
    case (.alreadyAsked, _): .cancel
    case (.permission, .ask), (.permission, .remind): .askByMessage
    case (.permission, .inPerson): .inPerson
    case (.compose, .ask(let names)): .send(names: names)
    case (.compose, .remind): .send(names: [])
    case (.passcode(_, _, let wait, let failure), .inPerson(let typed, let choice)):
      failure != nil || wait > .zero ? .cancel : .passcode(typed, choice: choice)
    case (.ageRange, _): agePlan
    case (.ageSettings(_, let wait, let failure), .inPerson(let typed, _)):
      failure != nil || wait > .zero ? .cancel : .passcode(typed, choice: nil)
    case (.acknowledge, .cancel): .cancel
    case (.acknowledge, _): .acknowledge
    default: .cancel
    }
  }

  private mutating func planAnswer(to bubble: Bubble, on device: UInt32) {
    guard case .guardian(let answer, let delay) = plans[device],
      let choice = answer.choice(in: bubble.question)
    else { return }
    plannedAnswers.append(
      (machines.now + delay, device, .answer(bubble.question.id, choice: choice)))
    if delay == .zero { giveDueAnswers() }
  }

  /// Has the guardians give the planned answers that are due.
  mutating func giveDueAnswers() {
    let ready = plannedAnswers.filter { $0.at <= machines.now }
    plannedAnswers.removeAll { $0.at <= machines.now }
    for (_, device, input) in ready { act(device, input) }
  }
}
