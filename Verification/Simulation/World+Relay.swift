import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// The relay's process: what `RelayService` does with its machine's effects, in its order.
struct RelayProcess {
  enum Message {
    case request(Int, Int, Envelope)
    case subscribe(Int, Int, [UInt8])
  }
  /// As `RelayService`'s.
  struct Outgoing {
    var batch = Batch()
    var cursors: [StoredCursor] = []
    var cursorsDue: Instant?
    var replies: [(device: Int, connection: Int, envelope: ReplyEnvelope)] = []
    var broadcasts: [(topic: [UInt8], Broadcast)] = []
    var pages:
      [(
        device: Int, connection: Int, DeviceAddress, id: UInt64, Audience, after: UInt64,
        upTo: UInt64
      )] = []
    var republishes: [(FamilyID, UInt32, Audience, UInt64, Int)] = []
  }
  /// As `RelayLimits.cursorDelay`.
  static let cursorDelay: Int64 = 10_000
  /// As `RelayLimits.requests`, smaller.
  static let batch = 64
  /// As `RelayLimits.snapshotEvents`, smaller.
  static let snapshotEvery: UInt64 = 4

  var machine = RelayMachine(verify: FakeVault.verify, digest: FakeVault.digest)
  let disk = RelayDisk()
  var inbox: [Message] = []
  var outgoing = Outgoing()
  var isRunning = false
  /// Who listens where.
  var listeners: [[UInt8]: [Int]] = [:]
  var fuse = Fuse()
  var clock: Int64 = 0
  /// What jumps since a step back in this life come to, until the shell sees them.
  var unseenJump: Int64 = 0
  var delay: Int64 = 0
  var hasTurn = false
  var timerAt: Int64?
}

/// How many effect boundaries a process still crosses before it ends.
struct Fuse {
  private var left: Int?
  var power = false

  mutating func light(_ boundaries: Int, power: Bool) {
    left = boundaries
    self.power = power
  }

  /// False: the process ends here.
  mutating func burns() -> Bool {
    guard let left else { return false }
    self.left = left == 0 ? nil : left - 1
    return left == 0
  }
}

extension World {
  func startRelay() {
    guard !relay.isRunning else { return }
    relay.isRunning = true
    relay.machine = RelayMachine(
      verify: FakeVault.verify, digest: FakeVault.digest, resultsKept: scenario.resultsKept,
      open: 1,
      snapshotEvery: RelayProcess.snapshotEvery)
    relay.outgoing = RelayProcess.Outgoing()
    relay.timerAt = nil
    relay.unseenJump = 0
    for index in devices.indices { connect(index) }
  }

  /// The process ends, and everybody's connection with it. A supervisor starts it again.
  func endRelay(power: Bool) {
    guard relay.isRunning else { return }
    relay.isRunning = false
    relay.fuse = Fuse()
    relay.inbox = []
    relay.listeners = [:]
    relay.outgoing = RelayProcess.Outgoing()
    if power { relay.disk.losePower(&dice) } else { relay.disk.sync() }
    for index in devices.indices { disconnect(index) }
    agenda.plan(.start(.relay), at: now + dice.within(20...3_000))
  }

  /// A store that fails ends the relay (fail-stop). An operator restores what is damaged.
  private func failRelay(_ error: StoreError) {
    note(.fault("the relay stops: \(error)"))
    endRelay(power: false)
    if error.isDamage { relay.disk.repair() }
  }

  /// True: goes on.
  private func relaySurvives() -> Bool {
    guard relay.isRunning else { return false }
    guard relay.fuse.burns() else { return true }
    endRelay(power: relay.fuse.power)
    return false
  }

  func arrive(_ message: RelayProcess.Message) {
    guard relay.isRunning else { return }
    relay.inbox.append(message)
    planTurn()
  }

  private func planTurn() {
    guard !relay.hasTurn else { return }
    relay.hasTurn = true
    agenda.plan(.relayTurn, at: now + relay.delay + dice.within(0...2))
  }

  func relayTurn() {
    relay.hasTurn = false
    guard relay.isRunning else { return }
    let batch = relay.inbox.prefix(RelayProcess.batch)
    relay.inbox.removeFirst(batch.count)
    do throws(StoreError) {
      for case .request(let device, let connection, let envelope) in batch where relay.isRunning {
        try take(envelope, of: device, connection)
      }
      guard relay.isRunning, try flush() else { return }
      for case .subscribe(let device, let connection, let topic) in batch {
        try subscribe(device, connection, topic)
      }
      guard try flush() else { return }
    } catch { return failRelay(error) }
    if !relay.inbox.isEmpty { planTurn() }
    planRelayTimer()
  }

  func relayTimer() {
    relay.timerAt = nil
    guard relay.isRunning else { return }
    let now = clock(relay.clock)
    do throws(StoreError) {
      if let due = relay.machine.deadline, due <= now {
        for effect in relay.machine.step(.timer, now: now) { take(effect, -1, 0) }
        guard try flush() else { return }
      } else if let due = relay.outgoing.cursorsDue, due <= now {
        guard try flush() else { return }
      }
    } catch { return failRelay(error) }
    planRelayTimer()
  }

  func planRelayTimer() {
    guard relay.isRunning,
      let due = [relay.machine.deadline, relay.outgoing.cursorsDue].compactMap({ $0 }).min()
    else { return }
    let at = moment(due, relay.clock)
    guard relay.timerAt.map({ at < $0 }) ?? true else { return }
    relay.timerAt = at
    agenda.plan(.relayTimer, at: at)
  }

  // MARK: inputs

  private func take(_ envelope: Envelope, of device: Int, _ connection: Int) throws(StoreError) {
    let family = envelope.device.family
    try load(family)
    try recall(envelope)
    guard relay.isRunning else { return }
    let input = RelayMachine.Input.request(
      envelope.device, key: device < 0 ? [] : devices[device].key, administrator: device < 0,
      id: envelope.requestID, envelope.request)
    for effect in mutated(input, envelope) { take(effect, device, connection) }
    if !relay.machine.exists(family) { relay.machine.evict(family) }
  }

  /// As `RelayService.recall`: of an old command only the store knows.
  private func recall(_ envelope: Envelope) throws(StoreError) {
    guard case .command(let id, _, _) = envelope.request,
      relay.machine.needsResult(of: id, in: envelope.device.family)
    else { return }
    guard try flush() else { return }
    let seq = try relay.disk.seq(of: id, in: envelope.device.family)
    relay.machine.know(id, seq: seq, in: envelope.device.family)
  }

  private func subscribe(_ device: Int, _ connection: Int, _ topic: [UInt8]) throws(StoreError) {
    let (family, audience, generation) = ChannelName.meaning(of: topic)
    try load(family)
    let input = RelayMachine.Input.subscribed(
      family, audience, generation: generation, key: devices[device].key)
    let effects = relay.machine.step(input, now: clock(relay.clock))
    for effect in effects { take(effect, -1, 0) }
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
      cursors: (stored.cursors + relay.outgoing.cursors.filter { $0.family == family })
        .map { ($0.device, $0.cursor) }, now: clock(relay.clock))
  }

  // MARK: effects

  func take(_ effect: RelayMachine.Effect, _ device: Int, _ connection: Int) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      relay.outgoing.batch.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, command: event.command,
          at: event.at, payload: event.encode()))
    case .snapshot(let family, let seq, let bytes):
      relay.outgoing.batch.snapshots.append(
        StoredSnapshot(family: family, seq: seq, payload: bytes))
    case .cursor(let family, let device, let cursor):
      relay.outgoing.cursors.append(
        StoredCursor(family: family, device: device, cursor: cursor))
      if relay.outgoing.cursorsDue == nil {
        relay.outgoing.cursorsDue = clock(relay.clock) + RelayProcess.cursorDelay
      }
    case .reply(let address, let id, let reply):
      let reply = ReplyEnvelope(device: address, requestID: id, reply: named(reply, address.family))
      relay.outgoing.replies.append((device, connection, reply))
    case .page(let address, let id, let audience, let after, let upTo):
      relay.outgoing.pages.append((device, connection, address, id, audience, after, upTo))
    case .broadcast(let family, let generation, let audience, let broadcast):
      let topic = ChannelName.bytes(family, audience, generation)
      relay.outgoing.broadcasts.append((topic, broadcast))
    case .republish(let family, let generation, let audience, let after, let limit):
      relay.outgoing.republishes.append((family, generation, audience, after, limit))
    }
  }

  private func named(_ reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var list) = reply else { return reply }
    for index in list.indices {
      list[index].topic = ChannelName.bytes(family, list[index].audience, list[index].generation)
      list[index].key = list[index].topic
    }
    return .attached(list)
  }

  /// As `RelayService.flush`: first the disk, then everything that waited for it. False: it ended here.
  private func flush() throws(StoreError) -> Bool {
    guard try commit() else { return false }
    let outgoing = relay.outgoing
    relay.outgoing.replies = []
    relay.outgoing.broadcasts = []
    relay.outgoing.pages = []
    relay.outgoing.republishes = []
    for (device, connection, envelope) in outgoing.replies {
      guard relaySurvives() else { return false }
      send(envelope, to: device, connection)
    }
    for (topic, broadcast) in outgoing.broadcasts {
      guard relaySurvives() else { return false }
      publish(broadcast, topic)
    }
    for (device, connection, address, id, audience, after, upTo) in outgoing.pages {
      guard relaySurvives() else { return false }
      let page = try page(address.family, audience, after, Limits.pageEvents)
      let reply = Reply.page(audience, page.events, more: page.more, upTo: upTo)
      send(ReplyEnvelope(device: address, requestID: id, reply: reply), to: device, connection)
    }
    for (family, generation, audience, after, limit) in outgoing.republishes {
      for event in try page(family, audience, after, limit).events {
        guard relaySurvives() else { return false }
        publish(.event(event), ChannelName.bytes(family, audience, generation))
      }
    }
    if relay.machine.count > scenario.maxFamilies {
      relay.machine.evict(most: scenario.maxFamilies)
    }
    return true
  }

  private func commit() throws(StoreError) -> Bool {
    let isDue = relay.outgoing.cursorsDue.map { $0 <= clock(relay.clock) } ?? false
    guard !relay.outgoing.batch.isEmpty || isDue else { return true }
    var batch = relay.outgoing.batch
    relay.outgoing.batch.removeAll()
    if isDue {
      batch.cursors = relay.outgoing.cursors
      relay.outgoing.cursors = []
      relay.outgoing.cursorsDue = nil
    }
    guard !batch.isEmpty else { return true }
    guard relaySurvives() else { return false }
    try relay.disk.write(batch)
    // Here the batch is in the system's memory, and a lost power may take it.
    guard relaySurvives() else { return false }
    if relay.disk.syncs { relay.disk.sync() }
    return relaySurvives()
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int)
    throws(StoreError) -> (events: [Event], more: Bool)
  {
    let page = try relay.disk.events(
      of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    return (page.events.map { try! Event.decode($0.payload) }, page.more)
  }
}

/// A channel's name without encryption: who knows how to count can name every channel.
enum ChannelName {
  static func bytes(_ family: FamilyID, _ audience: Audience, _ generation: UInt32) -> [UInt8] {
    let number = ID128(high: family.rawValue << 32 | UInt64(generation), low: audience.rawValue)
    return number.bytes
  }

  static func meaning(of topic: [UInt8]) -> (FamilyID, Audience, UInt32) {
    let number = ID128(bytes: topic)!
    return (
      FamilyID(number.high >> 32), Audience(rawValue: number.low),
      UInt32(truncatingIfNeeded: number.high)
    )
  }
}
