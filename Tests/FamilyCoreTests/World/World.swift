@testable import FamilyCore
import FamilyModel

/// A family of machines without sockets: the relay, a child's two devices, two guardians and an
/// app. A test may cut the network. Every effect is carried out at once, in order.
struct World {
  static let family = FamilyID(1)
  static let emily = PersonID(3)
  static let app = AppID("example.landmarks")
  static let otherApp = AppID("example.other")
  static let roster = Roster(
    persons: [
      Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
      Person(id: PersonID(2), role: .guardian, displayName: "Alex"),
      Person(id: emily, role: .child, displayName: "Emily"),
      Person(id: PersonID(4), role: .adult, displayName: "Ben"),
    ],
    devices: [
      device(1, 1), device(2, 2), device(3, 3), device(4, 3), device(5, 4),
    ])

  private static func device(_ id: UInt32, _ person: UInt32) -> Device {
    Device(
      id: DeviceID(id), person: PersonID(person), publicKey: .init(repeating: UInt8(id), count: 32))
  }

  var now = Instant(milliseconds: 1_000_000)
  var relay = RelayMachine(verify: FakePasscode.verify)
  var log: [Event] = []
  var children: [UInt32: ChildMachine] = [:]
  var guardians: [UInt32: GuardianMachine] = [:]
  /// Each device's durable records.
  var disks: [UInt32: [RecordKey: DeviceRecord]] = [:]
  /// Devices without a network.
  var away: Set<UInt32> = []
  /// Each device's effects other than sending and storing, in order.
  var seen: [UInt32: [DeviceEffect]] = [:]
  /// The relay's replies. `broadcasts` are its messages to audiences.
  var replies: [(device: UInt32, id: UInt64, Reply)] = []
  var broadcasts: [(Audience, Broadcast)] = []
  /// The number of broadcasts to lose.
  var lose = 0
  /// Whether passcodes are checked at once. Otherwise the check never ends.
  var checksPasscodes = true
  var lastForged: UInt64 = 0
  /// The apps' declarations.
  var manifests = [
    World.app: AppManifest(usesDeclaredAgeRange: true, ageRating: .nine)
  ]
  private var admin: UInt64 = 0
  private var lives: UInt64 = 0

  init(isConnected: Bool = true) {
    relay.load(Self.family, events: [], cursors: [], now: now)
    administrate(.setRoster(Self.roster))
    for id: UInt32 in [1, 2] {
      guardians[id] = GuardianMachine(
        address(id), of: PersonID(id), ids: IDSource(seed: UInt64(id)))
    }
    for (id, person) in [(UInt32(3), UInt32(3)), (4, 3), (5, 4)] { restoreChild(id, person) }
    for id: UInt32 in isConnected ? [1, 2, 3, 4, 5] : [] { connect(id) }
  }

  func address(_ id: UInt32) -> DeviceAddress {
    DeviceAddress(family: Self.family, device: DeviceID(id))
  }

  mutating func restoreChild(_ id: UInt32, _ person: UInt32, apps: [AppID] = [app, otherApp]) {
    children[id] = ChildMachine(
      address(id), of: PersonID(person), apps: apps, manifests: manifests,
      restoring: (disks[id] ?? [:]).values.sorted { "\($0.key)" < "\($1.key)" },
      ids: newIDs(),
      digest: { app, handles in Array("\(app.rawValue) \(handles.map(\.value))".utf8) })
  }

  mutating func restoreGuardian(_ id: UInt32) {
    guardians[id] = GuardianMachine(
      address(id), of: PersonID(id),
      restoring: (disks[id] ?? [:]).values.sorted { "\($0.key)" < "\($1.key)" },
      ids: newIDs())
  }

  /// A new source of ids for each start of a device, as in a process.
  private mutating func newIDs() -> IDSource {
    lives += 1
    return IDSource(seed: 100 + lives)
  }

  /// Kills the relay and restores it from the durable log.
  mutating func restartRelay() {
    relay = RelayMachine(verify: FakePasscode.verify)
    relay.load(Self.family, events: log, cursors: [], now: now)
    for id in [UInt32(1), 2, 3, 4, 5] where !away.contains(id) {
      disconnect(id)
      connect(id)
    }
  }

  // MARK: inputs

  mutating func connect(_ id: UInt32) {
    away.remove(id)
    if guardians[id] != nil { guardian(id, .connected) } else { child(id, .connected) }
  }

  mutating func disconnect(_ id: UInt32) {
    away.insert(id)
    if guardians[id] != nil { guardian(id, .disconnected) } else { child(id, .disconnected) }
  }

  mutating func child(_ id: UInt32, _ input: ChildMachine.Input) {
    let effects = children[id]!.step(input, now: now)
    carryOut(effects, of: id)
  }

  mutating func guardian(_ id: UInt32, _ input: GuardianMachine.Input) {
    let effects = guardians[id]!.step(input, now: now)
    carryOut(effects, of: id)
  }

  mutating func administrate(_ command: Command) {
    admin += 1
    relayStep(
      .request(
        address(0), key: [], administrator: true, id: RequestID(admin),
        .command(ID128(high: 9, low: admin), command)))
  }

  /// Advances the clock and fires all timers.
  mutating func wait(_ duration: Milliseconds) {
    let end = now + duration
    while now < end {
      let deadlines =
        [relay.deadline] + children.values.map(\.deadline) + guardians.values.map(\.deadline)
      now = max(now, min(end, deadlines.compactMap { $0 }.min() ?? end))
      if let due = relay.deadline, due <= now { relayStep(.timer) }
      for id in children.keys.sorted() {
        if let due = children[id]!.deadline, due <= now { child(id, .timer) }
      }
      for id in guardians.keys.sorted() {
        if let due = guardians[id]!.deadline, due <= now { guardian(id, .timer) }
      }
      now = now + .milliseconds(1)
    }
  }

  // MARK: effects

  private mutating func carryOut(_ effects: [DeviceEffect], of id: UInt32) {
    for effect in effects {
      switch effect {
      case .persist(let changes):
        for change in changes {
          switch change {
          case .put(let record): disks[id, default: [:]][record.key] = record
          case .delete(let key): disks[id, default: [:]][key] = nil
          }
        }
      case .send(let request, let body):
        guard !away.contains(id) else { continue }
        let key = [UInt8](repeating: UInt8(id), count: 32)
        relayStep(
          .request(address(id), key: key, administrator: false, id: RequestID(request), body))
      case .requestAdmission(let command): child(id, .admitted(command))
      case .listen: break
      case .checkPasscode(let prompt, let typed, let passcode, let bytes):
        guard checksPasscodes else { continue }
        let proof = FakePasscode.sign(typed, passcode, bytes)
        child(id, .passcodeChecked(prompt: prompt, proof: proof))
      default: seen[id, default: []].append(effect)
      }
    }
  }

  private mutating func relayStep(_ input: RelayMachine.Input) {
    for effect in relay.step(input, now: now) {
      switch effect {
      case .append(_, let event): log.append(event)
      case .snapshot, .cursor, .approve: break
      case .reply(let device, let id, let reply):
        deliver(reply, id.rawValue, to: device.device.rawValue)
      case .page(let device, let id, let audience, let after, _):
        let events = log.filter { $0.audience == audience && $0.seq > after }
        deliver(.page(audience, events, more: false), id.rawValue, to: device.device.rawValue)
      case .broadcast(_, _, let audience, let broadcast): publish(broadcast, audience)
      case .republish(_, _, let audience, let after, let limit):
        for event in log.filter({ $0.audience == audience && $0.seq > after }).prefix(limit) {
          publish(.event(event), audience)
        }
      }
    }
  }

  private mutating func deliver(_ reply: Reply, _ id: UInt64, to device: UInt32) {
    guard !away.contains(device) else { return }
    replies.append((device, id, reply))
    if guardians[device] != nil { guardian(device, .reply(id, reply)) }
    if children[device] != nil { child(device, .reply(id, reply)) }
  }

  private mutating func publish(_ broadcast: Broadcast, _ audience: Audience) {
    guard lose == 0 else { return lose -= 1 }
    broadcasts.append((audience, broadcast))
    guard let state = relay.state(of: Self.family) else { return }
    for device in Self.roster.devices where !away.contains(device.id.rawValue) {
      guard let person = Self.roster.owner(of: device.id),
        state.roster.isMember(person, of: audience)
      else { continue }
      let id = device.id.rawValue
      if guardians[id] != nil { guardian(id, .broadcast(broadcast)) }
      if children[id] != nil { child(id, .broadcast(broadcast)) }
    }
  }
}
