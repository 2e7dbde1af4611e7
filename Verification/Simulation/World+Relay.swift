import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

extension World {
  func startRelay() {
    guard !relay.isRunning else { return }
    relay.isRunning = true
    relay.machine = makeRelayMachine()
    forgetBranches()
    relay.output = SimulatedRelay.Output()
    relay.timerAt = nil
    relay.pendingClockJump = .zero
    for index in devices.indices { connect(index) }
  }

  /// Ends the process and all its connections. A supervisor restarts the process.
  func endRelay(power: Bool) {
    guard relay.isRunning else { return }
    relay.isRunning = false
    relay.crash = CrashCountdown()
    relay.inbox = []
    relay.listeners = [:]
    relay.output = SimulatedRelay.Output()
    if power { relay.disk.losePower(&random) } else { relay.disk.sync() }
    for index in devices.indices { disconnect(index) }
    queue.schedule(.start(.relay), at: now + random.milliseconds(20...3_000))
  }

  /// Stops the relay after a store failure (fail-stop). An operator restores damaged data.
  private func failRelay(_ error: StoreError) {
    record(.fault("the relay stops: \(error)"))
    endRelay(power: false)
    if error.isDamage { relay.disk.repair() }
  }

  /// Crosses an effect boundary.
  ///
  /// - Returns: `false` if the relay crashed.
  func relaySurvives() -> Bool {
    guard relay.isRunning else { return false }
    guard relay.crash.fires() else { return true }
    endRelay(power: relay.crash.power)
    return false
  }

  func arrive(_ message: SimulatedRelay.Message) {
    guard relay.isRunning else { return }
    relay.inbox.append(message)
    scheduleTurn()
  }

  private func scheduleTurn() {
    guard !relay.isTurnScheduled else { return }
    relay.isTurnScheduled = true
    queue.schedule(.relayTurn, at: now + relay.delay + random.milliseconds(0...2))
  }

  func relayTurn() {
    relay.isTurnScheduled = false
    guard relay.isRunning else { return }
    let batch = relay.inbox.prefix(SimulatedRelay.batch)
    relay.inbox.removeFirst(batch.count)
    do throws(StoreError) {
      for case .request(let device, let connection, let envelope, let key) in batch
      where relay.isRunning {
        try receive(envelope, of: device, connection, key)
      }
      guard relay.isRunning, try flush() else { return }
      for case .subscribe(let device, let connection, let topic) in batch {
        try subscribe(device, connection, topic)
      }
      guard try flush() else { return }
    } catch { return failRelay(error) }
    if !relay.inbox.isEmpty { scheduleTurn() }
    scheduleRelayTimer()
  }

  func relayTimer() {
    // An earlier timer may have replaced this one.
    guard let at = relay.timerAt, at <= self.now else { return }
    relay.timerAt = nil
    guard relay.isRunning else { return }
    let now = clock(relay.clock)
    do throws(StoreError) {
      if let due = relay.machine.deadline, due <= now {
        for effect in relay.machine.step(.timer, now: now) { collect(effect, -1, 0) }
        guard try flush() else { return }
      } else if let due = relay.output.cursorsDue, due <= now {
        guard try flush() else { return }
      }
    } catch { return failRelay(error) }
    scheduleRelayTimer()
  }

  func scheduleRelayTimer() {
    guard relay.isRunning,
      let due = [relay.machine.deadline, relay.output.cursorsDue].compactMap({ $0 }).min()
    else { return }
    let at = moment(due, relay.clock)
    guard relay.timerAt.map({ at < $0 }) ?? true else { return }
    relay.timerAt = at
    queue.schedule(.relayTimer, at: at)
  }

  // MARK: inputs

  private func receive(_ envelope: Envelope, of device: Int, _ connection: Int, _ key: [UInt8]?)
    throws(StoreError)
  {
    let family = envelope.device.family
    guard try passes(envelope, of: device, connection) else { return }
    try load(family)
    try lookUpResult(envelope)
    guard relay.isRunning else { return }
    let input = RelayMachine.Input.request(
      envelope.device, key: key ?? (device < 0 ? [] : devices[device].key),
      administrator: device < 0,
      id: RequestID(envelope.requestID), envelope.request)
    for effect in stepRelay(input, envelope) { collect(effect, device, connection) }
    if !relay.machine.exists(family) { relay.machine.evict(family) }
  }

  /// Looks up the result of a command that is older than the cached results.
  private func lookUpResult(_ envelope: Envelope) throws(StoreError) {
    guard case .command(let id, _, _) = envelope.request,
      relay.machine.needsStoredResult(
        of: id, by: envelope.device.device, in: envelope.device.family)
    else { return }
    guard try flush() else { return }
    let (family, device) = (envelope.device.family, envelope.device.device)
    let stored = try relay.disk.event(of: id, by: device, in: family)
    relay.machine.setStoredResult(
      of: id, by: device, event: stored.map { try! Event.decode($0.payload) }, in: family)
  }

  private func subscribe(_ device: Int, _ connection: Int, _ topic: [UInt8]) throws(StoreError) {
    let (family, audience, generation) = ChannelName.meaning(of: topic)
    guard try openBranch(of: device) else { return }
    try load(family)
    let input = RelayMachine.Input.subscribed(
      family, audience, generation: generation, key: devices[device].key)
    let effects = relay.machine.step(input, now: clock(relay.clock))
    for effect in effects { collect(effect, -1, 0) }
    if !relay.machine.exists(family) { relay.machine.evict(family) }
    let isApproved = effects.contains(.approve) || mutant == .subscriptionCheck
    guard isApproved, devices[device].connection == connection else { return }
    if !(relay.listeners[topic]?.contains(device) ?? false) {
      relay.listeners[topic, default: []].append(device)
    }
  }

  func load(_ family: FamilyID) throws(StoreError) {
    guard !relay.machine.holds(family) else { return }
    let snapshot = try relay.disk.snapshot(of: family).flatMap {
      FamilyState(snapshot: $0.payload, resultsKept: scenario.resultsKept)
    }
    var stored = try relay.disk.load(family, after: snapshot?.seq ?? 0)
    if mutant == .snapshotTail, snapshot != nil { stored.events = [] }
    relay.machine.load(
      family, snapshot: snapshot, events: stored.events.map { try! Event.decode($0.payload) },
      cursors: (stored.cursors + relay.output.cursors.filter { $0.family == family })
        .map { ($0.device, $0.cursor) },
      passcodeLock: stored.passcodeLock.flatMap { PasscodeLock(stored: $0.payload) },
      now: clock(relay.clock))
  }
}
