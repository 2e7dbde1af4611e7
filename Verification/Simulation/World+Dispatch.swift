import FamilyCore
import FamilyModel

extension World {
  /// Delivers an event to its process.
  func dispatch(_ event: ScheduledEvent) {
    trace.add(UInt64(bitPattern: now.count), UInt64(traceCode(event)))
    switch event {
    case .step(let index): act(scenario.steps[index].act)
    case .start(.relay): startRelay()
    case .repairRelay: repairRelay()
    case .start(.device(let device)): startDevice(device)
    case .start(.app(let device, let app)): startApp(device, app, byDevice: false)
    case .relayTurn: relayTurn()
    case .relayReads(let life): relayReads(life)
    case .relayTimer: relayTimer()
    case .request(let device, let connection, let envelope):
      arrive(.request(device, connection, envelope))
    case .forgedRequest(let device, let key, let envelope):
      arrive(.request(device, devices[device].connection, envelope, key: key))
    case .subscribe(let device, let connection, let topic):
      arrive(.subscribe(device, connection, topic))
    case .connected(let device, let connection): connected(device, connection)
    case .resubscribe(let device, let connection): resubscribe(device, connection)
    case .reply(let device, let connection, let envelope): receive(device, connection, envelope)
    case .broadcast(let device, let connection, let topic, let broadcast):
      receive(device, connection, topic, broadcast)
    case .deviceTimer(let device): deviceTimer(device)
    case .fromApp(let device, let app, let life, let deviceLife, let request):
      fromApp(device, app, life, deviceLife, request)
    case .toApp(let device, let app, let life, let reply): toApp(device, app, life, reply)
    case .appConnected(let device, let app, let life): appConnected(device, app, life: life)
    case .appIdle(let device, let app, let life): appIdle(device, app, life: life)
    case .appHandles(let device, let app, let life, let position):
      appHandles(device, app, life: life, position: position)
    case .appEnded(let device, let app, let life): appEnded(device, app, life)
    case .launch(let device, let app, let life): launch(device, app, life)
    case .promptAnswer(let device, let life, let prompt, let answer):
      child(device, life: life, .answered(prompt: prompt, answer))
    case .passcodeChecked(let device, let life, let prompt, let proof):
      child(device, life: life, .passcodeChecked(prompt: prompt, proof: proof))
    case .snapshotMade(let device, let life, let number, let snapshot):
      madeSnapshot(device, life, number, snapshot)
    case .guardianAnswers(let device, let life, let question, let choice):
      if !hasHealed { guardian(device, life: life, .answer(question, choice: choice)) }
    case .guardianSees(let device, let life, let child, let seq):
      guardian(device, life: life, .seen(child: child, seq: seq))
    case .administrator: administratorTurn()
    case .linkEnds(let device, let fault): devices[device].end(linkFault: fault)
    case .slowEnds(let process): slow(process, by: .zero)
    case .diskFaultEnds(let process): setDiskFault(nil, of: process)
    case .syncs:
      try? relay.disk.sync()
      if !hasHealed { queue.schedule(.syncs, at: now + .seconds(20)) }
    case .checkConvergence: checkConvergence()
    }
  }

  private func traceCode(_ event: ScheduledEvent) -> Int {
    switch event {
    case .step(let index): 100 + index
    case .request(let device, _, _): 10_000 + device
    case .reply(let device, _, let envelope):
      20_000 + device + Int(envelope.requestID & 0xFFFF_FFFF) << 16
    case .broadcast(let device, _, _, _): 30_000 + device
    case .connected(let device, _): 40_000 + device
    case .deviceTimer(let device): 50_000 + device
    case .fromApp(let device, let app, _, _, _): 60_000 + device * 4 + app
    case .toApp(let device, let app, _, _): 70_000 + device * 4 + app
    default: 1
    }
  }

  /// Steps the child's machine unless the device has restarted since.
  func child(_ device: Int, life: Int, _ input: ChildMachine.Input) {
    if devices[device].life == life { child(device, input) }
  }

  /// Steps the guardian's machine unless the device has restarted since.
  func guardian(_ device: Int, life: Int, _ input: GuardianMachine.Input) {
    if devices[device].life == life { guardian(device, input) }
  }
}
