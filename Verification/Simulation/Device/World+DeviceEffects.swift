import FamilyCore
import FamilyModel
import RelayWire

/// What a device wants done.
extension World {
  func carryOut(_ effect: DeviceEffect, _ device: DeviceProcess, _ index: Int) {
    switch effect {
    case .persist: break
    case .send(let id, let request):
      // As its host would say it: every other time.
      let request = request == .ping && id % 2 == 0 ? .present([]) : request
      send(Envelope(device: device.address, requestID: id, request: request), from: index)
    case .wantsToAsk(let id):
      perform(device.child!.step(.mayAsk(id), now: clock(device.clock)), device)
    case .listen(let channels, let anew): listen(channels.map(\.topic), anew, device, index)
    case .app(let app, let reply): tell(app, reply, device, index)
    case .launch(let app, _):
      guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
      agenda.plan(.launch(index, number, deviceLife: device.life), at: now + dice.within(5...150))
    case .terminate(let app):
      guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
      // The launcher knows the processes that it started.
      if device.apps[number].launchedBy == device.life { endApp(index, number, tells: true) }
    case .prompt(let number, let prompt): answer(prompt, number, device, index)
    case .checkPasscode(let prompt, let typed, let passcode, let bytes):
      let proof = FakePasscode.sign(typed, passcode, bytes)
      agenda.plan(
        .passcodeChecked(index, life: device.life, prompt, proof), at: now + dice.within(20...90))
    case .bubble(let bubble): look(at: bubble, device, index)
    case .notify: break
    }
  }

  private func listen(_ wanted: [[UInt8]], _ anew: Bool, _ device: DeviceProcess, _ index: Int) {
    for topic in device.topics where !wanted.contains(topic) { unsubscribe(index, topic) }
    let new = anew ? wanted : wanted.filter { !device.topics.contains($0) }
    device.topics = wanted
    for topic in new { subscribe(index, topic) }
  }

  /// As `AgentHost.tell`: an app that cannot be reached has gone.
  private func tell(_ app: AppID, _ reply: AppReply, _ device: DeviceProcess, _ index: Int) {
    guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
    let process = device.apps[number]
    guard process.isRunning, process.deviceLife == device.life else {
      return perform(
        device.child!.step(.appGone(app, exited: false), now: clock(device.clock)), device)
    }
    send(reply, to: process, index, number)
  }
}
