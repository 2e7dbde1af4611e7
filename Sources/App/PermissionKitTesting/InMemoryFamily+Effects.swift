import DeviceTurn
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation

/// The effects of a device's host: messages to the relay, and the acts of people and apps.
extension InMemoryFamily {
  func carryOut(_ effect: HostEffect, of device: InMemoryDevice) {
    switch effect {
    case .send(let envelope, _): relay?.send(envelope, from: device.number)
    case .subscribe(let topic, _): relay?.subscribe(device.number, to: topic)
    case .unsubscribe: relay?.unsubscribe(device.number)
    case .local(let effect, _): carryOut(effect, of: device)
    }
  }

  /// The inputs that answer an effect join the device's turn.
  private func carryOut(_ effect: DeviceEffect, of device: InMemoryDevice) {
    switch effect {
    case .persist, .send, .listen, .requestAdmission, .consentChanged, .alert, .makeSnapshot: break
    case .app(_, let reply): process?.deliver(.reply(reply))
    case .launch:
      launches += 1
      if isLaunchable {
        pendingLaunches += 1
      } else {
        device.act(.appGone(app, exited: true))
      }
    case .terminate: isTerminated = true
    case .prompt(let number, let prompt, let window):
      promptWindows.append(window)
      if case .ageRange = prompt { agePrompts += 1 }
      device.act(.answered(prompt: number, answer(prompt)))
    case .checkPasscode(let prompt, let attempt, _, let passcode, let bytes):
      let keys = Self.passcodeKeys(attempt.typed)
      let proof = keys.signingKey == passcode.publicKey ? KeyVault(keys).sign(bytes) : nil
      device.act(.passcodeChecked(prompt: prompt, proof: proof))
    case .checkPicture(let number, let picture):
      let verdict = pictureCheck(Data(picture.bytes))
      device.act(.pictureChecked(number, verdict.analysis))
    case .derivePasscode(let attempt, let evaluation):
      device.act(.setPasscode(Self.passcode(attempt.typed, evaluation)))
    case .bubble(let bubble): planAnswer(to: bubble, on: device)
    case .notify(let notice): if device.number == Self.childDevice { notices.append(notice) }
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

  private func planAnswer(to bubble: Bubble, on device: InMemoryDevice) {
    guard case .guardian(let answer, let delay) = plans[device.number],
      let choice = answer.choice(in: bubble.question)
    else { return }
    let input = GuardianMachine.Input.answer(bubble.question.id, choice: choice)
    guard delay > .zero else { return device.act(input) }
    plannedAnswers.append((now + delay, device.number, input))
  }

  /// Has the guardians give the planned answers that are due.
  func giveDueAnswers() {
    let ready = plannedAnswers.filter { $0.at <= now }
    plannedAnswers.removeAll { $0.at <= now }
    for (_, device, input) in ready { act(device, input) }
  }
}
