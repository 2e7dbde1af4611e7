package import FamilyCore
package import FamilyModel

/// Drives the machines of one family without sockets, threads and real time.
///
/// Effects are carried out in the order of their steps: a machine's effects of one step precede
/// the effects of every later step, as on an ordered connection. A driver supplies the people, the
/// apps and the wire. Every requirement but `machines` and `carryOut` has a default: an unsigned
/// family and a wire that changes nothing.
@dynamicMemberLookup
package protocol FamilyDriver {
  var machines: FamilyMachines { get set }

  /// A device's keys; `nil` for a family without signatures.
  func security(_ device: UInt32) -> Security?

  /// Carries out an effect that concerns a person or an app. The harness persists and sends.
  mutating func carryOut(_ effect: DeviceEffect, of device: UInt32)

  /// The request as the relay receives it.
  mutating func transmit(_ request: Request, number: UInt64, from device: UInt32) -> Request

  /// The reply as the device receives it.
  mutating func transmit(_ reply: Reply, number: UInt64, to device: UInt32) -> Reply

  /// The broadcasts that the device receives for one of the relay.
  mutating func transmit(_ broadcast: Broadcast, to device: UInt32) -> [Broadcast]

  /// Whether the relay's broadcast reaches any device of the audience.
  mutating func isPublished(_ broadcast: Broadcast, to audience: Audience) -> Bool

  /// The event as the relay reads it from its store.
  func stored(_ event: Event) -> Event
}

// MARK: Defaults

extension FamilyDriver {
  package func security(_ device: UInt32) -> Security? { nil }
  package func transmit(_ request: Request, number: UInt64, from device: UInt32) -> Request {
    request
  }
  package func transmit(_ reply: Reply, number: UInt64, to device: UInt32) -> Reply { reply }
  package func transmit(_ broadcast: Broadcast, to device: UInt32) -> [Broadcast] { [broadcast] }
  package func isPublished(_ broadcast: Broadcast, to audience: Audience) -> Bool { true }
  package func stored(_ event: Event) -> Event { event }
}

// MARK: The family

extension FamilyDriver {
  package static var family: FamilyID { FamilyID(1) }

  package subscript<Value>(dynamicMember path: WritableKeyPath<FamilyMachines, Value>) -> Value {
    get { machines[keyPath: path] }
    set { machines[keyPath: path] = newValue }
  }

  package func address(_ device: UInt32) -> DeviceAddress {
    DeviceAddress(family: Self.family, device: DeviceID(device))
  }

  /// Founds the family, as the administrator, with a roster that its organizer's device signed.
  package mutating func found(_ roster: Roster, organizer device: UInt32) {
    machines.relay.load(Self.family, events: [], cursors: [], now: machines.now)
    var organizer = GuardianMachine(
      address(device), of: roster.device(DeviceID(device))!.person, security: security(device),
      ids: machines.newIDs())
    for signed in try! organizer.prepare(.setRoster(roster), now: machines.now) {
      request(0, 1, .command(signed.id, signed.command, signed.signature))
    }
  }

  /// Connects the device to the relay. Precondition: the device exists.
  package mutating func connect(_ device: UInt32) {
    machines.away.remove(device)
    if machines.guardians[device] != nil {
      guardian(device, .connected)
    } else {
      child(device, .connected)
    }
  }

  /// Disconnects the device from the relay, which loses its requests and messages. Precondition:
  /// the device exists.
  package mutating func disconnect(_ device: UInt32) {
    machines.away.insert(device)
    if machines.guardians[device] != nil {
      guardian(device, .disconnected)
    } else {
      child(device, .disconnected)
    }
  }

  // MARK: Steps

  /// Steps the machine of a child's or an adult's device. Precondition: the device exists.
  package mutating func child(_ device: UInt32, _ input: ChildMachine.Input) {
    guard !machines.killed.contains(device) else { return }
    enqueue(machines.children[device]!.step(input, now: machines.now), of: device)
  }

  /// Steps the machine of a guardian's device. Precondition: the device exists.
  package mutating func guardian(_ device: UInt32, _ input: GuardianMachine.Input) {
    enqueue(machines.guardians[device]!.step(input, now: machines.now), of: device)
  }

  /// Steps the device's machine with the input of its kind. A device without a machine ignores it.
  private mutating func input(
    _ device: UInt32, _ ofChild: ChildMachine.Input, _ ofGuardian: GuardianMachine.Input
  ) {
    if machines.guardians[device] != nil { guardian(device, ofGuardian) }
    if machines.children[device] != nil { child(device, ofChild) }
  }

  /// Sends a request to the relay. Device 0 is the administrator.
  ///
  /// - Returns: The relay's refusal, or `nil`.
  @discardableResult
  package mutating func request(_ device: UInt32, _ number: UInt64, _ body: Request) -> Problem? {
    stepRelay(
      .request(
        address(device), key: Device.curveKey(device), administrator: device == 0,
        id: RequestID(number), transmit(body, number: number, from: device)))
  }

  /// Delivers a broadcast to one device, unless the device is away.
  package mutating func deliver(_ broadcast: Broadcast, to device: UInt32) {
    guard !machines.away.contains(device) else { return }
    input(device, .broadcast(broadcast), .broadcast(broadcast))
  }

  // MARK: Time

  /// Moves the clock to the earliest deadline, or to `end`, and fires the timers that are due.
  private mutating func tick(to end: Instant) {
    // The clock moves, so that an overdue deadline cannot stop time.
    machines.now = max(machines.now + .milliseconds(1), min(end, machines.deadline ?? end))
    let now = machines.now
    if let due = machines.relay.deadline, due <= now { stepRelay(.timer) }
    for device in machines.children.keys.sorted() {
      if let due = machines.children[device]!.deadline, due <= now { child(device, .timer) }
    }
    for device in machines.guardians.keys.sorted() {
      if let due = machines.guardians[device]!.deadline, due <= now { guardian(device, .timer) }
    }
  }

  /// Advances the clock by this time, with all timers on the way.
  package mutating func wait(_ duration: Milliseconds) {
    let end = machines.now + duration
    while machines.now < end { tick(to: end) }
  }

  // MARK: Effects

  private mutating func enqueue(_ effects: [DeviceEffect], of device: UInt32) {
    machines.queue += effects.map { (device, $0) }
    drain()
  }

  /// Carries out the queued effects and the effects that follow from them.
  private mutating func drain() {
    guard !machines.isDraining else { return }
    machines.isDraining = true
    while !machines.queue.isEmpty {
      let (device, effect) = machines.queue.removeFirst()
      guard machines.survives(device) else { continue }
      switch effect {
      case .persist(let changes): machines.persist(changes, of: device)
      case .send(let number, let body):
        if !machines.away.contains(device) { request(device, number, body) }
      default: carryOut(effect, of: device)
      }
    }
    machines.isDraining = false
  }

  @discardableResult
  private mutating func stepRelay(_ input: RelayMachine.Input) -> Problem? {
    let isNested = machines.isDraining
    machines.isDraining = true
    var problem: Problem?
    for effect in machines.relay.step(input, now: machines.now) {
      if case .reply(_, _, .refused(_, let refusal)) = effect { problem = refusal }
      carryOut(effect)
    }
    machines.isDraining = isNested
    drain()
    return problem
  }

  private mutating func carryOut(_ effect: RelayMachine.Effect) {
    switch effect {
    case .append(_, let event): machines.log.append(stored(event))
    case .snapshot, .cursor: break
    case .passcodeLock(_, let bytes): machines.passcodeLock = bytes
    case .reply(let device, let id, let reply): deliver(reply, id, to: device)
    case .page(let device, let id, let audience, let after, _):
      let events = machines.events(of: audience, after: after)
      deliver(.page(audience, events, more: false), id, to: device)
    case .broadcast(_, _, let audience, let broadcast): publish(broadcast, to: audience)
    case .republish(_, _, let audience, let seq):
      for event in machines.events(of: audience, after: seq - 1).prefix(1) {
        publish(.event(event), to: audience)
      }
    }
  }

  private mutating func deliver(_ reply: Reply, _ id: RequestID, to address: DeviceAddress) {
    let device = address.device.rawValue
    guard !machines.away.contains(device) else { return }
    let reply = transmit(reply, number: id.rawValue, to: device)
    input(device, .reply(id.rawValue, reply), .reply(id.rawValue, reply))
  }

  private mutating func publish(_ broadcast: Broadcast, to audience: Audience) {
    guard isPublished(broadcast, to: audience),
      let roster = machines.relay.state(of: Self.family)?.roster
    else { return }
    var readers = roster.readers(of: audience)
    if case .event(let event) = broadcast, case .rosterChanged = event.body {
      // The relay broadcasts a roster to the readers of the roster before, so that a removed device
      // learns of its removal.
      readers.formUnion(machines.formerRoster.readers(of: audience))
      machines.formerRoster = roster
    }
    for device in readers.sorted() where !machines.away.contains(device.rawValue) {
      for received in transmit(broadcast, to: device.rawValue) {
        deliver(received, to: device.rawValue)
      }
    }
  }
}

extension Roster {
  /// The devices of the audience's members.
  fileprivate func readers(of audience: Audience) -> Set<DeviceID> {
    Set(
      devices.lazy.filter { device in
        person(device.person).map { isMember($0, of: audience) } ?? false
      }.map(\.id))
  }
}
