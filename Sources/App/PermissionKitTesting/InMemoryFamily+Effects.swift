import FamilyCore
import FamilyModel
import FamilyTrust

extension InMemoryFamily {
  /// Carries out the queued effects and the effects that follow from them.
  mutating func drain() {
    while !queue.isEmpty {
      let (device, effect) = queue.removeFirst()
      carryOut(effect, of: device)
    }
  }

  private mutating func carryOut(_ effect: DeviceEffect, of device: DeviceID) {
    switch effect {
    case .persist(let changes): if device == Self.childDevice { persist(changes) }
    case .send(let id, let body): request(of: device, id, body)
    case .requestAdmission(let id):
      queue += child.step(.admitted(id), now: now).map { (Self.childDevice, $0) }
    case .listen: break
    case .app(_, let reply): process?.deliver(.reply(reply))
    case .launch:
      launches += 1
      if isLaunchable {
        pendingLaunches += 1
      } else {
        queue += child.step(.appGone(app, exited: true), now: now).map { (Self.childDevice, $0) }
      }
    case .terminate: isTerminated = true
    case .prompt(let number, let prompt):
      if case .ageRange = prompt { agePrompts += 1 }
      queue += child.step(.answered(prompt: number, answer(prompt)), now: now)
        .map { (Self.childDevice, $0) }
    case .checkPasscode(let prompt, let typed, let passcode, let bytes):
      let proof =
        Self.passcode(typed).publicKey == passcode.publicKey
        ? Self.passcodeKeys(typed).sign(bytes) : nil
      queue += child.step(.passcodeChecked(prompt: prompt, proof: proof), now: now)
        .map { (Self.childDevice, $0) }
    case .bubble(let bubble): planAnswer(to: bubble, on: device)
    case .alert: break
    case .notify(let notice): if device == Self.childDevice { notices.append(notice) }
    }
  }

  private mutating func persist(_ changes: [RecordChange]) {
    for change in changes {
      switch change {
      case .put(let record): disk[record.key] = record
      case .delete(let key): disk[key] = nil
      }
    }
  }

  /// A passcode without scrypt: the key is the typed text, padded with zeros.
  static func passcode(_ typed: String) -> Passcode {
    Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4,
      publicKey: passcodeDeviceKeys(typed).signingKey)
  }

  private static func passcodeKeys(_ typed: String) -> KeyVault {
    KeyVault(passcodeDeviceKeys(typed))
  }

  private static func passcodeDeviceKeys(_ typed: String) -> DeviceKeys {
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
    case (.passcode(_, _, let wait, let wrong), .inPerson(let typed, let choice)):
      wrong || wait > .zero ? .cancel : .passcode(typed, choice: choice)
    case (.ageRange, _): agePlan
    case (.ageSettings(_, let wait, let wrong), .inPerson(let typed, _)):
      wrong || wait > .zero ? .cancel : .passcode(typed, choice: nil)
    case (.acknowledge, .cancel): .cancel
    case (.acknowledge, _): .acknowledge
    default: .cancel
    }
  }

  private mutating func planAnswer(to bubble: Bubble, on device: DeviceID) {
    guard case .guardian(let answer, let delay) = plans[device],
      let choice = answer.choice(in: bubble.question)
    else { return }
    plannedAnswers.append((now + delay, device, .answer(bubble.question.id, choice: choice)))
    if delay == .zero { giveDueAnswers() }
  }

  /// Has the guardians give the planned answers that are due.
  mutating func giveDueAnswers() {
    let ready = plannedAnswers.filter { $0.at <= now }
    plannedAnswers.removeAll { $0.at <= now }
    for (_, device, input) in ready {
      queue += (guardians[device]?.step(input, now: now) ?? []).map { (device, $0) }
    }
  }

  // MARK: the relay

  mutating func relayStep(_ input: RelayMachine.Input) {
    for effect in relay.step(input, now: now) {
      switch effect {
      case .append(_, let event): log.append(event)
      case .snapshot, .cursor, .approve: break
      case .reply(let device, let id, let reply):
        deliver(.reply(id.rawValue, reply), to: device.device)
      case .page(let device, let id, let audience, let after, _):
        let events = log.filter { $0.audience == audience && $0.seq > after }
        deliver(.reply(id.rawValue, .page(audience, events, more: false)), to: device.device)
      case .broadcast(_, _, let audience, let broadcast): publish(broadcast, audience)
      case .republish(_, _, let audience, let after, let limit):
        for event in log.filter({ $0.audience == audience && $0.seq > after }).prefix(limit) {
          publish(.event(event), audience)
        }
      }
    }
  }

  private enum Delivery {
    case reply(UInt64, Reply)
    case broadcast(Broadcast)
  }

  private mutating func publish(_ broadcast: Broadcast, _ audience: Audience) {
    guard let roster = relay.state(of: Self.family)?.roster else { return }
    for device in roster.devices {
      guard let person = roster.owner(of: device.id), roster.isMember(person, of: audience) else {
        continue
      }
      deliver(.broadcast(broadcast), to: device.id)
    }
  }

  private mutating func deliver(_ delivery: Delivery, to device: DeviceID) {
    guard !offline.contains(device) else { return }
    if device == Self.childDevice {
      let input: ChildMachine.Input =
        switch delivery {
        case .reply(let id, let reply): .reply(id, reply)
        case .broadcast(let broadcast): .broadcast(broadcast)
        }
      queue += child.step(input, now: now).map { (device, $0) }
    } else if guardians[device] != nil {
      let input: GuardianMachine.Input =
        switch delivery {
        case .reply(let id, let reply): .reply(id, reply)
        case .broadcast(let broadcast): .broadcast(broadcast)
        }
      queue += guardians[device]!.step(input, now: now).map { (device, $0) }
    }
  }
}
