import DeviceTurn
import FamilyCore
import FamilyModel
import RelayWire

/// Carries out the effects of a device's host.
extension World {
  func carryOut(_ effect: HostEffect, _ device: SimulatedDevice, _ index: Int) {
    switch effect {
    case .send(let envelope, _):
      probe(envelope.request)
      send(acknowledgedEarly(envelope), from: index)
    case .subscribe(let topic, _):
      device.topics.append(topic)
      subscribe(index, topic)
    case .unsubscribe(let topic, _):
      reach(.subscribedAgain)
      device.topics.removeAll { $0 == topic }
      unsubscribe(index)
    case .local(let effect, _):
      probe(effect)
      carryOut(effect, device, index)
    }
  }

  private func carryOut(_ effect: DeviceEffect, _ device: SimulatedDevice, _ index: Int) {
    switch effect {
    case .persist, .requestAdmission, .send, .listen: break
    case .app(let app, let reply): deliver(reply, to: app, device, index)
    case .launch(let app, _):
      guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
      queue.schedule(
        .launch(index, number, deviceLife: device.life), at: now + random.milliseconds(5...150))
    case .terminate(let app):
      guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
      // A launcher ends only processes that it started.
      if device.apps[number].launchedBy == device.life { endApp(index, number, isReported: true) }
    case .prompt(let number, let prompt, _): answer(prompt, number, device, index)
    case .derivePasscode(let attempt, let evaluation):
      let passcode = FakePasscode.make(attempt.typed, evaluation)
      device.host?.act(GuardianMachine.Input.setPasscode(passcode), on: device.address)
    case .checkPasscode(let prompt, let attempt, _, let passcode, let bytes):
      let proof = FakePasscode.sign(attempt.typed, passcode, bytes)
      queue.schedule(
        .passcodeChecked(index, life: device.life, prompt, proof),
        at: now + random.milliseconds(20...90))
    case .checkPicture(let number, _):
      // No worker runs in a simulated machine.
      device.host?.act(
        ChildMachine.Input.pictureChecked(number, .failed(.noContentWorker)), on: device.address)
    case .bubble(let bubble): guardianReacts(to: bubble, device, index)
    case .makeSnapshot(let number): makeSnapshot(number, of: device, index)
    case .notify, .alert, .consentChanged: break
    }
  }

  /// Sends a reply to an app. An unreachable app counts as ended.
  private func deliver(
    _ reply: AppReply, to app: AppID, _ device: SimulatedDevice, _ index: Int
  ) {
    guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
    let process = device.apps[number]
    guard process.isRunning, process.deviceLife == device.life else {
      device.host?.act(.appGone(app, exited: false), on: device.address)
      return
    }
    send(reply, to: process, index, number)
  }
}
