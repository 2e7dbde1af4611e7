import FamilyCore
import FamilyModel
import RelayWire

/// Carries out the effects of a device's machine.
extension World {
  func carryOut(_ effect: DeviceEffect, _ device: SimulatedDevice, _ index: Int) {
    switch effect {
    case .persist: break
    case .send(let id, let request):
      // Hosts send either form of presence; alternate between them.
      let request = request == .ping && id % 2 == 0 ? .present([]) : request
      send(Envelope(device: device.address, requestID: id, request: request), from: index)
    case .requestAdmission(let id):
      perform(device.child!.step(.admitted(id), now: clock(device.clock), uptime: uptime), device)
    case .listen(let channels, let isNewConnection):
      // A dishonest relay may send topics that name no channel.
      let topics = channels.map(\.topic).filter { ChannelName.channel(of: $0) != nil }
      listen(topics, isNewConnection, device, index)
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
      perform(
        device.guardian!.step(.setPasscode(passcode), now: clock(device.clock)), device)
    case .checkPasscode(let prompt, let attempt, _, let passcode, let bytes):
      let proof = FakePasscode.sign(attempt.typed, passcode, bytes)
      queue.schedule(
        .passcodeChecked(index, life: device.life, prompt, proof),
        at: now + random.milliseconds(20...90))
    case .bubble(let bubble): guardianReacts(to: bubble, device, index)
    case .notify, .alert, .consentChanged: break
    }
  }

  private func listen(
    _ wanted: [[UInt8]], _ isNewConnection: Bool, _ device: SimulatedDevice, _ index: Int
  ) {
    for topic in device.topics where !wanted.contains(topic) { unsubscribe(index, topic) }
    let new = isNewConnection ? wanted : wanted.filter { !device.topics.contains($0) }
    device.topics = wanted
    for topic in new { subscribe(index, topic) }
  }

  /// Sends a reply to an app. An unreachable app counts as ended.
  private func deliver(
    _ reply: AppReply, to app: AppID, _ device: SimulatedDevice, _ index: Int
  ) {
    guard let number = device.apps.firstIndex(where: { $0.id == app }) else { return }
    let process = device.apps[number]
    guard process.isRunning, process.deviceLife == device.life else {
      return perform(
        device.child!.step(.appGone(app, exited: false), now: clock(device.clock), uptime: uptime),
        device)
    }
    send(reply, to: process, index, number)
  }
}
