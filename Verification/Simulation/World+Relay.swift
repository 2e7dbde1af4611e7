import Credentials
import FamilyCore
import FamilyModel
import History
import RelayPipeline
import RelayStore
import RelayWire

/// The relay's process. Its pipeline is production code; this is its thread.
extension World {
  func startRelay() {
    guard !relay.isRunning else { return }
    do { try relay.disk.open() } catch { return scheduleRelayStart() }
    relay.isRunning = true
    let sockets = SimulatedSockets(self)
    let box = Unchecked(value: self)
    let pipeline = Pipeline(
      pipelineConfiguration, keys: ChannelName.keys, store: SimulatedStore(self), sockets: sockets,
      clock: { box.value.clock(box.value.relay.clock) },
      onDamage: { [unowned self] _, error in noticeDamage(error) },
      onFailure: { [unowned self] in failRelay($0) })
    relay.life += 1
    pipeline.deferReads = { [unowned self, life = relay.life] in scheduleReads(life) }
    relay.process = (pipeline, sockets)
    forgetBranches()
    relay.timerAt = nil
    for index in devices.indices { connect(index) }
  }

  private var pipelineConfiguration: PipelineConfiguration {
    var configuration = PipelineConfiguration()
    configuration.shards = 1
    configuration.maxFamilies = mutant == .eviction ? .max : scenario.maxFamilies
    configuration.wakeThreshold = .max
    configuration.resultsPerFamily = scenario.resultsKept
    configuration.cachedChannels = SimulatedRelay.cachedChannels
    configuration.sealsBroadcasts = false
    configuration.pageEvents = SimulatedRelay.pageEvents
    let resultsKept = scenario.resultsKept
    configuration.makeMachine = { _ in Self.makeRelayMachine(resultsKept: resultsKept) }
    return configuration
  }

  static func makeRelayMachine(resultsKept: Int) -> RelayMachine {
    RelayMachine(
      verify: FakeVault.verify, digest: FakeVault.digest, resultsKept: resultsKept,
      openFamilies: 1, snapshotEvery: SimulatedRelay.snapshotEvery)
  }

  /// The machine of the relay's only shard.
  var relayMachine: RelayMachine {
    get {
      var machine: RelayMachine?
      relay.process?.pipeline.forEachMachine { machine = $0 }
      return machine ?? Self.makeRelayMachine(resultsKept: scenario.resultsKept)
    }
    set {
      relay.process?.pipeline.forEachMachine { $0 = newValue }
      relay.process?.pipeline.forgetCursors()
    }
  }

  /// Ends the process and all its connections. A supervisor restarts the process.
  func endRelay(power: Bool) {
    guard relay.isRunning else { return }
    probeRelay()
    if power { reach(.relayLosesPower) }
    relay.isRunning = false
    relay.crash = CrashCountdown()
    relay.inbox = []
    relay.listeners = [:]
    if power { relay.disk.losePower(&random) }
    for index in devices.indices { disconnect(index) }
    scheduleRelayStart()
  }

  private func scheduleRelayStart() {
    queue.schedule(.start(.relay), at: now + random.milliseconds(20...3_000))
  }

  /// Stops the relay after a store failure (fail-stop). An operator restores damaged data.
  private func failRelay(_ error: any Error) {
    guard relay.isRunning else { return }
    record(.fault("the relay stops: \(error)"))
    switch relay.disk.fault {
    case .full: reach(.relayDiskFull)
    case .write: reach(.relayWriteFails)
    case .sync: reach(.relaySyncFails)
    case .read, nil: break
    }
    endRelay(power: false)
    guard let error = error as? StoreError, error.isDamage else { return }
    reach(.relayDiskDamaged)
    relay.disk.repair()
  }

  /// Schedules the repair of damage that the relay has confined to a family. The relay's log tells the
  /// operator.
  private func noticeDamage(_ error: any Error) {
    record(.fault("a family's records cannot be read: \(error)"))
    guard let error = error as? StoreError, error.isDamage else { return }
    reach(.relayDiskDamaged)
    queue.schedule(.repairRelay, at: now + random.milliseconds(1_000...60_000))
  }

  func repairRelay() {
    endRelay(power: false)
    relay.disk.repair()
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

  // MARK: Turns

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
    guard relay.isRunning, let (pipeline, sockets) = relay.process else { return }
    let batch = relay.inbox.prefix(SimulatedRelay.batch)
    relay.inbox.removeFirst(batch.count)
    for case .request(let device, let connection, let envelope, let key) in batch
    where relay.isRunning && passes(envelope, of: device, connection) {
      let own = device < 0 ? ChannelName.keys.administrator.bytes : devices[device].key
      sockets.enqueue(
        withPass(renumbered(envelope), of: device), of: device, connection, key: key ?? own)
      // Each device of a dishonest relay may read another history.
      if isLying { pipeline.drainRequests() }
    }
    pipeline.drainRequests()
    for case .subscribe(let device, let connection, let topic) in batch where relay.isRunning {
      subscribe(device, connection, topic, pipeline)
    }
    turn(pipeline)
    if relay.isRunning, !relay.inbox.isEmpty { scheduleTurn() }
  }

  func relayTimer() {
    // An earlier timer may have replaced this one.
    guard let at = relay.timerAt, at <= self.now else { return }
    relay.timerAt = nil
    guard relay.isRunning, let (pipeline, _) = relay.process else { return }
    turn(pipeline)
  }

  // MARK: Reads

  /// Schedules the reader's thread. A dishonest relay reads at once, because the device's history is
  /// open only then.
  private func scheduleReads(_ life: Int) -> Bool {
    guard dishonest == nil else { return false }
    let longest: Int64 = random.chance(10) ? 400 : 6
    queue.schedule(
      .relayReads(life: life), at: now + relay.delay + random.milliseconds(0...longest))
    return true
  }

  /// Reads the batch. The relay's thread receives the results in a later turn.
  func relayReads(_ life: Int) {
    guard relay.isRunning, relay.life == life, relaySurvives() else { return }
    relay.process?.pipeline.performReads()
    if relaySurvives() { scheduleTurn() }
  }

  private func turn(_ pipeline: Pipeline) {
    guard relay.isRunning else { return }
    // The mutant's clock of the machine is set back together with the wall clock.
    let uptime = mutant == .clockSetBack ? now + relay.clock + .days(1_000) : uptime
    guard let sleep = pipeline.turn(uptime: uptime), relay.isRunning else { return }
    scheduleRelayTimer(after: sleep)
  }

  func scheduleRelayTimer(after sleep: Milliseconds) {
    let at = now + max(.milliseconds(1), sleep)
    guard relay.isRunning, relay.timerAt.map({ at < $0 }) ?? true else { return }
    relay.timerAt = at
    queue.schedule(.relayTimer, at: at)
  }

  private func subscribe(
    _ device: Int, _ connection: Int, _ topic: [UInt8], _ pipeline: Pipeline
  ) {
    guard openBranch(of: device) else { return }
    var approved: Inbox?
    pipeline.withShards { access in
      approved = pipeline.subscribe(to: topic, key: devices[device].key, access)
    }
    if mutant == .subscriptionCheck { approved = approved ?? Inbox(bytes: topic) }
    guard let approved else { return reach(.subscriptionRefused) }
    guard relay.isRunning, devices[device].connection == connection else { return }
    if !(relay.listeners[approved]?.contains(device) ?? false) {
      relay.listeners[approved, default: []].append(device)
      devices[device].approved.append(approved)
    }
  }

  // MARK: Passes

  /// Adds the dishonest member's pass to its forged attachments.
  private func withPass(_ envelope: Envelope, of device: Int) -> Envelope {
    guard let member, member.index == device, envelope.pass.isEmpty,
      case .attach = envelope.request
    else { return envelope }
    var envelope = envelope
    envelope.pass = member.pass
    return envelope
  }

  /// Delivers a reply of the pipeline.
  func relayReplies(_ envelope: ReplyEnvelope, to device: Int, _ connection: Int) {
    let envelope = withOriginalID(envelope)
    if device >= 0 {
      devices[device].inbox = envelope.inbox ?? devices[device].inbox
      if let member, member.index == device, !envelope.pass.isEmpty { member.pass = envelope.pass }
      recordGuess(envelope, by: device)
      if case .evaluated = envelope.reply { recordGuess(envelope.requestID, by: device) }
    }
    send(envelope, to: device, connection)
  }

  private func recordGuess(_ envelope: ReplyEnvelope, by device: Int) {
    guard case .evaluated(let evaluation) = envelope.reply, !devices[device].plan.isGuardians,
      !relay.resets.contains(envelope.device.family)
    else { return }
    record(.guessed(envelope.device.family, evaluation.element, at: clock(relay.clock)))
  }

  /// Records that a new passcode or an accepted proof ends the count of guesses.
  func recordResets(_ batch: Batch) {
    relay.resets = []
    for stored in batch.events {
      switch try! Event.decode(stored.payload).body {
      case .passcodeChanged, .answeredInPerson, .ageSet, .settingsChanged:
        relay.resets.insert(stored.family)
        record(.guessesReset(stored.family))
      default: break
      }
    }
  }
}

/// The world, for closures that only the simulation's one thread calls.
private struct Unchecked: @unchecked Sendable {
  unowned let value: World
}
