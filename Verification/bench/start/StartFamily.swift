import DeviceTurn
import FamilyCore
import FamilyHarness
import FamilyModel
import FamilyTrust

/// A family with a long history: a child asks and writes, and a guardian answers and writes.
///
/// The machines of both devices and of the relay run without sockets and with real keys. The stores
/// therefore have the records that agents write.
struct StartFamily: FamilyDriver {
  static let guardian: UInt32 = 1
  static let child: UInt32 = 2
  static let devices = [guardian, child]
  static let app = AppID("example.landmarks")
  /// Questions that stay open at the end of the history.
  static let openQuestions = 8
  /// Every sixteenth question is about a new person, whom the guardian approves.
  private static let questionsPerApproval = 16
  /// People about whom the child asks repeatedly, and whom the guardian declines.
  private static let declined = 64

  var machines = FamilyMachines(
    now: Instant(milliseconds: 1_700_000_000_000),
    relay: RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest))
  private let verified = SignatureCache()
  private var questions: UInt64 = 0

  /// A family with this number of events at least.
  init(events: Int) {
    machines.relay.quota.family = .max / 2
    machines.relay.quota.device = .max / 2
    found(
      Roster([(.organizer, "Rosa"), (.child, "Emily")], devices: Self.devices.map(Self.device)),
      organizer: Self.guardian)
    machines.guardians[Self.guardian] = Self.guardianMachine([], verified, machines.newIDs())
    machines.children[Self.child] = Self.childMachine([], verified, machines.newIDs())
    for device in Self.devices { connect(device) }
    child(Self.child, .app(Self.app, .attach(app: Self.app, applied: 0)))
    addRounds(until: events - Self.openQuestions)
    for _ in 0..<Self.openQuestions { ask() }
  }

  /// Lets the family go on until it has this number of events at least.
  mutating func addRounds(until events: Int) { while machines.log.count < events { addRound() } }

  // MARK: Devices

  /// Keys that the bench's processes derive, so that they exchange no file with secrets.
  private static func keys(_ device: UInt32) -> DeviceKeys {
    let secret = [UInt8](repeating: UInt8(device), count: 32)
    return DeviceKeys(signingSecret: secret, agreementSecret: secret.map { $0 | 128 })!
  }

  private static func device(_ id: UInt32) -> Device {
    Device(
      id: DeviceID(id), person: PersonID(id), publicKey: Device.curveKey(id), keys: keys(id))
  }

  static func snapshots(of device: UInt32) -> Snapshots { keys(device).snapshots }

  private static func security(
    _ device: UInt32, _ verified: SignatureCache, _ snapshot: HandedSnapshot? = nil,
    _ storage: (any HistoryStorage)? = nil
  ) -> Security {
    var snapshots = snapshots(of: device)
    (snapshots.takeOpened, snapshots.storage) = (snapshot?.take, storage)
    return Security(
      KeyVault(keys(device), sharing: verified), organizerKey: keys(guardian).signingKey,
      snapshots: snapshots)
  }

  static func address(_ device: UInt32) -> DeviceAddress {
    DeviceAddress(family: family, device: DeviceID(device))
  }

  static func guardianMachine(
    _ records: [DeviceRecord], _ verified: SignatureCache, _ ids: IDSource,
    opened: HandedSnapshot? = nil, storage: (any HistoryStorage)? = nil
  ) -> GuardianMachine {
    GuardianMachine(
      address(guardian), of: PersonID(guardian),
      security: security(guardian, verified, opened, storage),
      hostAnnouncesPresence: true, restoring: records, ids: ids)
  }

  static func childMachine(
    _ records: [DeviceRecord], _ verified: SignatureCache, _ ids: IDSource,
    opened: HandedSnapshot? = nil, storage: (any HistoryStorage)? = nil
  ) -> ChildMachine {
    ChildMachine(
      address(child), of: PersonID(child), apps: [app],
      security: security(child, verified, opened, storage),
      hostAnnouncesPresence: true, restoring: records, ids: ids)
  }

  func security(_ device: UInt32) -> Security? { Self.security(device, verified) }

  // MARK: History

  /// A question, its answer and two texts.
  private mutating func addRound() {
    // The relay's rate limits then never refuse a request.
    wait(.seconds(1))
    let question = ask()
    let isApproved = questions.isMultiple(of: UInt64(Self.questionsPerApproval))
    guardian(Self.guardian, .answer(question, choice: isApproved ? "approve" : "decline"))
    child(Self.child, .post("May I stay until eight? The film ends at half past seven."))
    guardian(Self.guardian, .post(child: PersonID(Self.child), "Yes, and call me before you go."))
  }

  @discardableResult
  private mutating func ask() -> QuestionID {
    questions += 1
    let isNew = questions.isMultiple(of: UInt64(Self.questionsPerApproval))
    let name = isNew ? "friend\(questions)" : "stranger\(questions % UInt64(Self.declined))"
    let question = Question(
      id: QuestionID(high: 1, low: questions),
      topic: .communication(
        people: [Subject(handle: Handle(name, .custom))], actions: .message))
    child(Self.child, .app(Self.app, .ask(question, .byMessage)))
    return question.id
  }

  mutating func carryOut(_ effect: DeviceEffect, of device: UInt32) {
    switch effect {
    case .requestAdmission(let command): child(device, .admitted(command))
    case .prompt(let prompt, .compose, _):
      child(device, .answered(prompt: prompt, .send(names: [])))
    case .app(let app, .entry(let entry)): child(device, .app(app, .acknowledge(entry.position)))
    default: break
    }
  }

  /// The present records of a device without a snapshot.
  func records(of device: UInt32) -> [DeviceRecord] { Array(machines.disks[device]!.values) }

  /// The snapshot that a start makes which replays all present events.
  ///
  /// - Throws: ``NoSnapshot`` if the history is too short.
  func snapshot(of device: UInt32) throws -> DeviceRecord {
    let (records, ids) = (records(of: device), IDSource.system)
    let snapshot =
      device == Self.child
      ? Self.childMachine(records, verified, ids).link.newSnapshot
      : Self.guardianMachine(records, verified, ids).link.newSnapshot
    guard let snapshot else { throw NoSnapshot() }
    return .snapshot(snapshot)
  }

  /// A device makes no snapshot of so few events.
  struct NoSnapshot: Error, CustomStringConvertible {
    let description = "The device made no snapshot: choose more --events."
  }
}
