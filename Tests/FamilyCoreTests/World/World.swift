@testable import FamilyCore
import FamilyHarness
import FamilyModel

/// An unsigned family: an organizer, a guardian, a child's two devices with two apps, and an
/// adult. A test may cut the network.
struct World: FamilyDriver {
  static let emily = PersonID(3)
  static let app = AppID("example.landmarks")
  static let otherApp = AppID("example.other")
  static let roster = Roster(
    [(.organizer, "Rosa"), (.guardian, "Alex"), (.child, "Emily"), (.adult, "Ben")],
    devices: [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4)].map { id, person in
      Device(id: DeviceID(id), person: PersonID(person), publicKey: Device.curveKey(id))
    })

  var machines = FamilyMachines(
    now: Instant(milliseconds: 1_000_000), relay: RelayMachine(verify: FakePasscode.verify))
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
  /// Whether requests for evaluations are lost.
  var losesEvaluations = false
  /// The apps' declarations.
  var manifests = [
    World.app: AppManifest(usesDeclaredAgeRange: true, ageRating: .nine)
  ]
  private var admin: UInt64 = 0

  init(isConnected: Bool = true) {
    found(Self.roster, organizer: 1)
    for id: UInt32 in [1, 2] { restoreGuardian(id) }
    for (id, person) in [(UInt32(3), UInt32(3)), (4, 3), (5, 4)] { restoreChild(id, person) }
    for id: UInt32 in isConnected ? [1, 2, 3, 4, 5] : [] { connect(id) }
  }

  mutating func restoreChild(_ id: UInt32, _ person: UInt32, apps: [AppID] = [app, otherApp]) {
    machines.children[id] = ChildMachine(
      address(id), of: PersonID(person), apps: apps, manifests: manifests,
      restoring: machines.records(of: id), ids: machines.newIDs(),
      digest: { app, handles in Array("\(app.rawValue) \(handles.map(\.value))".utf8) },
      blind: FakePasscode.blind())
  }

  mutating func restoreGuardian(_ id: UInt32) {
    machines.guardians[id] = GuardianMachine(
      address(id), of: PersonID(id), restoring: machines.records(of: id), ids: machines.newIDs())
  }

  /// Whether the child's device 3 is killed; see ``FamilyMachines/kill``.
  var isKilled: Bool { machines.killed.contains(3) }

  /// Starts the killed device 3 from its durable records, and connects it.
  mutating func revive() {
    guard isKilled else { return }
    machines.revive(3)
    restoreChild(3, 3)
    connect(3)
  }

  /// Kills the relay and restores it from the durable log.
  mutating func restartRelay() {
    machines.relay = RelayMachine(verify: FakePasscode.verify)
    machines.relay.load(
      Self.family, events: machines.log, cursors: [],
      passcodeLock: machines.passcodeLock.flatMap { PasscodeLock(stored: $0) },
      now: machines.now)
    for id in [UInt32(1), 2, 3, 4, 5] where !machines.away.contains(id) {
      disconnect(id)
      connect(id)
    }
  }

  mutating func administrate(_ command: Command) {
    admin += 1
    request(0, admin, .command(ID128(high: 9, low: admin), command))
  }

  mutating func carryOut(_ effect: DeviceEffect, of id: UInt32) {
    switch effect {
    case .requestAdmission(let command): child(id, .admitted(command))
    case .listen: break
    case .derivePasscode(let attempt, let evaluation):
      guardian(id, .setPasscode(FakePasscode.make(attempt.typed, evaluation)))
    case .checkPasscode(let prompt, let attempt, let evaluation, let passcode, let bytes):
      guard checksPasscodes else { return }
      let proof = FakePasscode.sign(attempt.typed, evaluation, passcode, bytes)
      child(id, .passcodeChecked(prompt: prompt, proof: proof))
    default: seen[id, default: []].append(effect)
    }
  }

  func transmit(_ request: Request, number: UInt64, from device: UInt32) -> Request {
    if losesEvaluations, case .evaluate = request { .ping } else { request }
  }

  mutating func transmit(_ reply: Reply, number: UInt64, to device: UInt32) -> Reply {
    replies.append((device, number, reply))
    return reply
  }

  mutating func isPublished(_ broadcast: Broadcast, to audience: Audience) -> Bool {
    guard lose == 0 else {
      lose -= 1
      return false
    }
    broadcasts.append((audience, broadcast))
    return true
  }
}
