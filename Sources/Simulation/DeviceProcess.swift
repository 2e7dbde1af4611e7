import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// A device's process, its disk, and its connection to the relay.
final class DeviceProcess {
  let plan: Scenario.DevicePlan
  let address: DeviceAddress
  let key: [UInt8]
  let apps: [AppProcess]
  let vault: FakeVault

  var child: ChildMachine?
  var guardian: GuardianMachine?
  var disk = Journal<RecordChange>()
  var isDamaged = false
  var isFull = false
  var isRunning = false
  /// Counts the process's lives.
  var life = 0
  var fuse = Fuse()
  var clock: Int64 = 0
  /// Set back in this life, and not seen yet.
  var isClockSetBack = false
  var timerAt: Int64?
  /// As `AgentHost`'s: what waits for the end of the turn.
  var changes: [RecordChange] = []
  var effects: [DeviceEffect] = []
  /// Events of this turn that the device does not believe: it passes them by.
  var disbelieving = 0
  var passed: [Audience: UInt64] = [:]
  var disbelieved: [Audience: Set<UInt64>] = [:]
  /// What the device owes each app, as its disk has it.
  var standings: [AppStanding]

  /// Whether there is a network around.
  var isOnline = false
  var isConnected = false
  var isListening = false
  /// Counts the connections: what was sent on an earlier one does not arrive.
  var connection = 0
  /// The channels that it listens to, and those that it tries to.
  var topics: [[UInt8]] = []
  var pried: [[UInt8]] = []
  var network = Act.LinkFault()
  private var faults: [(number: Int, fault: Act.LinkFault)] = []
  private var lastFault = 0
  var delay: Int64 = 0
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0

  init(
    _ plan: Scenario.DevicePlan, apps: Int, organizer: DeviceID, _ keys: FakeVault.KeyMaker
  ) {
    self.plan = plan
    let family = FamilyID(UInt64(plan.family) + 1)
    address = DeviceAddress(family: family, device: plan.id)
    key =
      ID128(high: family.rawValue, low: UInt64(plan.id.rawValue)).bytes
      + [UInt8](repeating: 7, count: 16)
    vault = FakeVault(address, keys)
    let root = FakeVault(DeviceAddress(family: family, device: organizer), keys)
    let security = AppSecurity(
      family: family, child: plan.person.id, organizerKey: root.signingKey)
    let vault = vault
    self.apps = (0..<apps).map { AppProcess(Scenario.apps[$0], security, vault) }
    standings = Array(repeating: AppStanding(), count: apps)
  }

  var link: DeviceLink { child?.link ?? guardian!.link }
  /// Mutating accesses copy nothing.
  var deadline: Instant? { child?.due() ?? guardian?.due() }

  /// The link's faults that are not over, together; gives the number to end this one with.
  func begin(linkFault fault: Act.LinkFault) -> Int {
    lastFault += 1
    faults.append((lastFault, fault))
    mix()
    return lastFault
  }

  func end(linkFault number: Int) {
    faults.removeAll { $0.number == number }
    mix()
  }

  func endLinkFaults() {
    faults = []
    mix()
  }

  private func mix() {
    network = faults.reduce(into: Act.LinkFault()) { all, next in
      all.losesPercent = max(all.losesPercent, next.fault.losesPercent)
      all.repeatsPercent = max(all.repeatsPercent, next.fault.repeatsPercent)
      all.reorders = all.reorders || next.fault.reorders
      all.blocksUp = all.blocksUp || next.fault.blocksUp
      all.blocksDown = all.blocksDown || next.fault.blocksDown
      all.delay = max(all.delay, next.fault.delay)
    }
  }
}

extension ChildMachine {
  fileprivate mutating func due() -> Instant? { deadline }
}

extension GuardianMachine {
  fileprivate mutating func due() -> Instant? { deadline }
}

extension World {
  func startDevice(_ index: Int) {
    let device = devices[index]
    guard !device.isRunning else { return }
    if device.isDamaged { return reset(index) }
    device.isRunning = true
    device.life += 1
    device.timerAt = nil
    device.isClockSetBack = false
    let records = device.disk.records()
    let ids = IDSource(seed: dice.next())
    if device.plan.isGuardians {
      device.guardian = GuardianMachine(
        device.address, of: device.plan.person.id, security: security(device),
        restoring: records, ids: ids)
    } else {
      device.child = ChildMachine(
        device.address, of: device.plan.person.id, apps: Scenario.apps,
        security: security(device), restoring: records, ids: ids)
    }
    device.standings = device.apps.map { app in
      for case .app(app.id, let standing) in records { return standing }
      return AppStanding()
    }
    if !records.isEmpty { noteRestored(device, records) }
    for app in device.apps.indices where device.apps[app].isRunning { appMeetsDevice(index, app) }
    if device.guardian != nil { guardian(index, .started) }
    connect(index)
    planDeviceTimer(index)
  }

  func security(_ device: DeviceProcess) -> Security {
    let organizer = devices.first { $0.address.family == device.address.family }!
    return Security(device.vault, organizerKey: organizer.vault.signingKey)
  }

  private func noteRestored(_ device: DeviceProcess, _ records: [DeviceRecord]) {
    var seqs: [Audience: [UInt64]] = [:]
    var cursors: [Audience: UInt64] = [:]
    for record in records {
      if case .event(let event) = record { seqs[event.audience, default: []].append(event.seq) }
      if case .cursor(let cursor) = record { cursors[cursor.audience] = cursor.delivered }
    }
    device.passed = cursors
    for audience in Set(seqs.keys).union(cursors.keys).sorted() {
      let cursor = cursors[audience] ?? 0
      // What was not believed is not kept, and not missed.
      let gone = device.disbelieved[audience, default: []].filter { $0 <= cursor }
      let all = Set(seqs[audience] ?? []).union(gone).sorted()
      note(.restored(device.address, audience, all, cursor: cursor))
    }
    for (app, standing) in zip(device.apps, device.standings) where standing.registered {
      note(.registered(AppAddress(device.address, app.id)))
    }
  }

  /// The agent refuses a damaged file. Somebody removes it: the device starts from nothing, and each of its
  /// apps from nothing, too, or from what it was told by the device as it was.
  private func reset(_ index: Int) {
    let device = devices[index]
    device.isDamaged = false
    device.disk.wipe()
    note(.fault("device \(device.plan.id.rawValue) of family \(device.plan.family + 1) is reset"))
    forget(index)
    agenda.plan(.start(.device(index)), at: now + 200)
  }

  private func forget(_ index: Int) {
    let device = devices[index]
    note(.forgot(device.address))
    device.passed = [:]
    device.disbelieved = [:]
    for (number, app) in device.apps.enumerated() {
      note(.appForgot(AppAddress(device.address, app.id)))
      app.hasForgotten = true
      endApp(index, number, tells: false)
      if dice.chance(50) { app.disk.wipe() }
    }
  }

  /// The process ends; when the device loses power, its apps end, too.
  func endDevice(_ index: Int, power: Bool) {
    let device = devices[index]
    guard device.isRunning else { return }
    device.isRunning = false
    device.fuse = Fuse()
    device.changes = []
    device.effects = []
    device.disbelieving = 0
    device.topics = []
    disconnect(index)
    device.child = nil
    device.guardian = nil
    if power {
      device.disk.losePower(&dice)
      for (number, app) in device.apps.enumerated() {
        endApp(index, number, tells: false)
        app.disk.losePower(&dice)
      }
    } else {
      for app in device.apps { app.loseDevice() }
    }
    agenda.plan(.start(.device(index)), at: now + dice.within(20...3_000))
  }

  private func survives(_ device: DeviceProcess, _ index: Int) -> Bool {
    guard device.isRunning else { return false }
    guard device.fuse.burns() else { return true }
    endDevice(index, power: device.fuse.power)
    return false
  }

  // MARK: inputs

  func child(_ index: Int, _ input: ChildMachine.Input) {
    let device = devices[index]
    guard device.isRunning, device.child != nil else { return }
    perform(device.child!.step(input, now: clock(device.clock)), device)
    turn(index)
  }

  func guardian(_ index: Int, _ input: GuardianMachine.Input) {
    let device = devices[index]
    guard device.isRunning, device.guardian != nil else { return }
    perform(device.guardian!.step(input, now: clock(device.clock)), device)
    turn(index)
  }

  enum LinkInput {
    case connected
    case disconnected
    case reply(UInt64, Reply)
    case broadcast(Broadcast)
    case clockSetBack
    case timer
  }

  func deviceInput(_ index: Int, _ input: LinkInput) {
    switch input {
    case .connected: both(index, .connected, .connected)
    case .disconnected: both(index, .disconnected, .disconnected)
    case .reply(let id, let reply): both(index, .reply(id, reply), .reply(id, reply))
    case .broadcast(let broadcast): both(index, .broadcast(broadcast), .broadcast(broadcast))
    case .clockSetBack: both(index, .clockSetBack, .clockSetBack)
    case .timer: both(index, .timer, .timer)
    }
  }

  private func both(_ index: Int, _ input: ChildMachine.Input, _ other: GuardianMachine.Input) {
    if devices[index].child != nil { child(index, input) } else { guardian(index, other) }
  }

  func receive(_ index: Int, _ connection: Int, _ id: UInt64, _ reply: Reply) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    switch reply {
    case .accepted(let command, let seq):
      note(.acknowledged(device.address, command, seq: seq))
    case .refused(let command, let problem) where problem.code < Problem.overloaded.code:
      note(.refused(device.address, command, problem))
    case .page(let audience, let events, _):
      for event in events { note(.received(device.address, audience, seq: event.seq)) }
    default: break
    }
    deviceInput(index, .reply(id, reply))
  }

  func receive(_ index: Int, _ connection: Int, _ topic: [UInt8], _ broadcast: Broadcast) {
    let device = devices[index]
    guard device.connection == connection, device.isRunning else { return }
    let isIts = device.topics.contains(topic)
    guard isIts || device.pried.contains(topic) else { return }
    if case .event(let event) = broadcast {
      let family = ChannelName.meaning(of: topic).0
      // In another family nobody knows this device.
      let address =
        family == device.address.family
        ? device.address : DeviceAddress(family: family, device: DeviceID(1_000 + UInt32(index)))
      note(.received(address, event.audience, seq: event.seq))
    }
    if isIts { deviceInput(index, .broadcast(broadcast)) }
  }

  func deviceTimer(_ index: Int) {
    let device = devices[index]
    device.timerAt = nil
    guard device.isRunning else { return }
    if let deadline = device.deadline, deadline <= clock(device.clock) {
      deviceInput(index, .timer)
    } else {
      planDeviceTimer(index)
    }
  }

  func planDeviceTimer(_ index: Int) {
    let device = devices[index]
    guard device.isRunning, let deadline = device.deadline else { return }
    let at = moment(deadline, device.clock)
    guard deadline.milliseconds != .max, device.timerAt.map({ at < $0 }) ?? true else { return }
    device.timerAt = at
    agenda.plan(.deviceTimer(index), at: at)
  }

  // MARK: turns

  /// As `AgentHost.perform`.
  private func perform(_ wanted: [DeviceEffect], _ device: DeviceProcess) {
    for effect in wanted {
      if case .persist(let records) = effect {
        device.changes += records
      } else {
        if case .notify(.disbelieved) = effect { device.disbelieving += 1 }
        device.effects.append(effect)
      }
    }
  }

  /// As `AgentHost.turn`: the transaction, then everything that waited for it.
  private func turn(_ index: Int) {
    let device = devices[index]
    repeat {
      if !device.changes.isEmpty {
        guard survives(device, index), persist(device, index) else { return }
      }
      let wanted = device.effects
      device.effects = []
      for effect in wanted {
        guard survives(device, index) else { return }
        carryOut(effect, device, index)
      }
    } while device.isRunning && !(device.effects.isEmpty && device.changes.isEmpty)
    planDeviceTimer(index)
  }

  private func persist(_ device: DeviceProcess, _ index: Int) -> Bool {
    let changes = device.changes
    device.changes = []
    guard !device.isFull else {
      endDevice(index, power: false)
      return false
    }
    let parts = transactions(changes)
    for (number, part) in parts.enumerated() {
      device.disk.append(part, syncs: mutant != .deviceFsync)
      if number == parts.count - 1 { notePersisted(changes, device) }
      guard survives(device, index) else { return false }
    }
    device.disbelieving = 0
    return true
  }

  private func notePersisted(_ changes: [RecordChange], _ device: DeviceProcess) {
    for case .put(.cursor(let cursor)) in changes { notePassed(cursor, changes, device) }
    for case .put(let record) in changes {
      switch record {
      case .outbox(_, let id, _): note(.issued(device.address, id))
      case .app(let app, let standing):
        guard let number = device.apps.firstIndex(where: { $0.id == app }) else { continue }
        if standing.registered, !device.standings[number].registered {
          note(.registered(AppAddress(device.address, app)))
        }
        device.standings[number] = standing
      case .event, .cursor, .receipt, .entry, .passcodeTries: break
      }
    }
  }

  /// The device has come up to here: with each event on its disk, or without one that it does not believe.
  private func notePassed(_ cursor: Cursor, _ changes: [RecordChange], _ device: DeviceProcess) {
    let audience = cursor.audience
    var kept: [UInt64: Event] = [:]
    for case .put(.event(let event)) in changes where event.audience == audience {
      kept[event.seq] = event
    }
    let before = device.passed[audience] ?? 0
    for stored in relay.disk.families[device.address.family]?.events ?? []
    where stored.audience == audience && stored.seq > before && stored.seq <= cursor.delivered {
      if let event = kept[stored.seq] {
        note(.applied(device.address, audience, seq: event.seq, event.command))
        switch event.body {
        case .decided(let decision), .answeredInPerson(_, _, let decision, _):
          note(.decided(device.address, decision.question, choice: decision.choice.id))
        default: break
        }
      } else if device.disbelieving > 0 {
        device.disbelieving -= 1
        device.disbelieved[audience, default: []].insert(stored.seq)
        note(.applied(device.address, audience, seq: stored.seq, stored.command))
      }
    }
    device.passed[audience] = max(before, cursor.delivered)
  }

  private func carryOut(_ effect: DeviceEffect, _ device: DeviceProcess, _ index: Int) {
    switch effect {
    case .persist: break
    case .send(let id, let request):
      send(Envelope(device: device.address, requestID: id, request: request), from: index)
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
