import BlockStorage
import FamilyHarness
import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// A family with real keys: a child's two devices with an app, two guardians, and a relay. Every
/// message is encoded and decoded as on a socket. Tests can act as the relay's operator.
struct SignedFamily: FamilyDriver {
  static let emily = PersonID(3)
  static let app = AppID("example.landmarks")

  let keys: [UInt32: DeviceKeys]
  var machines = FamilyMachines(
    now: Instant(milliseconds: 1_700_000_000_000),
    relay: RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest))
  var roster: Roster
  var apps: [UInt32: AppMachine] = [:]
  /// Replaces an event that the relay sends to a device.
  var tamper: (_ event: Event, _ device: UInt32) -> [Event] = { event, _ in [event] } {
    didSet { relinks = true }
  }
  /// Whether the relay's hashes continue each device's chain. A relay that once has tampered must
  /// compute them, or the devices notice.
  var relinks = false
  /// Devices whose decoder fails for a page or broadcast with an event of a later kind: the former
  /// decoder, to prove that tests notice the failure.
  var formerDecoders: Set<UInt32> = []
  /// Every frame that the relay received or sent.
  var frames: [[UInt8]] = []
  var problems: [UInt32: [Problem]] = [:]
  /// The events that each device reported as lost.
  var lost: [UInt32: [(audience: Audience, seqs: ClosedRange<UInt64>)]] = [:]
  /// The problems of the commands that the owners of devices know as refused.
  var refused: [UInt32: [Problem]] = [:]
  /// The numbers of contents that devices reported as not open yet.
  var unopened: [UInt32: [Int]] = [:]
  /// Replaces a reply of a dishonest device to its app.
  var tellApp: (_ reply: AppReply, _ device: UInt32) -> [AppReply] = { reply, _ in [reply] }
  var appDisks: [UInt32: [[UInt8]: [UInt8]]] = [:]
  /// The problems that apps reported, and those that their devices received.
  var appProblems: [UInt32: [Problem]] = [:]
  var reported: [UInt32: [Problem]] = [:]
  /// Whether apps verify evidence. Tests turn it off to prove that they detect forgeries.
  var appVerifies = true
  /// The organizer's key in the app's credential; `nil`: the family's.
  var appRoot: [UInt8]?
  var appSecurity: AppSecurity {
    var security = Self.security(keys[1]!)
    if let appRoot { security.organizerKey = appRoot }
    return security
  }
  static func security(_ organizer: DeviceKeys) -> AppSecurity {
    AppSecurity(family: family, child: emily, organizerKey: organizer.signingKey)
  }
  /// The replies of device 3 to its app.
  var toApp: [[UInt8]] = []
  var toldEntries: [AppEntry] = []
  var outcomes: [QuestionID: AskOutcome] = [:]
  /// The responses that the app's code received.
  var answers: [UInt32: [Choice]] = [:]
  /// Whether devices verify events. Tests turn it off to prove that they detect forgeries.
  var verifies = true
  /// Shared, as by the devices of one host.
  let verified = SignatureCache()
  /// The events after which a start makes a snapshot.
  var snapshotInterval = 6
  /// The events after which a running device makes a snapshot; `nil`: none.
  var runningSnapshotInterval: Int?
  var requestedSnapshots = 0
  /// Whether snapshots of running devices wait.
  var holdsSnapshots = false
  var heldSnapshots: [(device: UInt32, number: UInt64, snapshot: [UInt8]?)] = []
  /// The starts of devices from their snapshots.
  var startsFromSnapshots = 0
  /// Whether questions are admitted at once.
  var admitsQuestions = true
  var wantingToAsk: [CommandID] = []
  /// The guardian's passcode, as typed on a child's device.
  private var typedPasscode: DeviceKeys?
  private var chosenPasscode: DeviceKeys?
  private var nextQuestion: UInt64 = 0
  /// The first half of the ids of questions.
  var questionSeries: UInt64 = 77

  init(
    verifies: Bool = true, appVerifies: Bool = true, connected: [UInt32] = [1, 2, 3, 4],
    keys: [UInt32: DeviceKeys] = Dictionary(
      uniqueKeysWithValues: (1...6).map { (UInt32($0), DeviceKeys()) })
  ) {
    self.verifies = verifies
    self.appVerifies = verifies && appVerifies
    self.keys = keys
    roster = Roster(
      [(.organizer, "Rosa"), (.guardian, "Alex"), (.child, "Emily")],
      devices: [(1, 1), (2, 2), (3, 3), (4, 3)].map { Self.device($0, $1, keys) })
    found(roster, organizer: 1)
    for id: UInt32 in [1, 2, 3, 4] { restore(id) }
    for id in connected { connect(id) }
  }

  static func device(_ id: UInt32, _ person: UInt32, _ keys: [UInt32: DeviceKeys]) -> Device {
    Device(
      id: DeviceID(id), person: PersonID(person), publicKey: Device.curveKey(id), keys: keys[id]!)
  }

  func security(_ id: UInt32) -> Security? {
    guard verifies else { return nil }
    var snapshots = keys[id]!.snapshots
    (snapshots.interval, snapshots.margin) = (snapshotInterval, 4)
    snapshots.runningInterval = runningSnapshotInterval ?? .max / 2
    return Security(
      KeyVault(keys[id]!, sharing: verified), organizerKey: keys[1]!.signingKey,
      snapshots: snapshots)
  }

  /// Starts a device from its durable records. Its state is that of a device that replays all events.
  mutating func restore(_ id: UInt32, _ security: Security? = nil) {
    let security = security ?? self.security(id)
    let records = records(of: id)
    let ids = machines.newIDs()
    func with(_ opened: OpenedSnapshot?) -> Security? {
      var security = security
      guard let opened else { return security }
      security?.snapshots?.takeOpened = { opened }
      security?.snapshots?.storage = MemoryHistory()
      return security
    }
    let child = { [self] in childMachine(id, with($1), $0, ids) }
    let guardian = { [self] in guardianMachine(id, with($1), $0, ids) }
    let snapshots = security?.snapshots
    if isChild(id) {
      let (machine, isEarly) = Self.started(records, snapshots, \.link.hasIgnoredSnapshot, child)
      machines.children[id] = machine
      if isEarly { startsFromSnapshots += 1 }
      startApp(on: id)
    } else {
      let (machine, isEarly) = Self.started(records, snapshots, \.link.hasIgnoredSnapshot, guardian)
      machines.guardians[id] = machine
      if isEarly { startsFromSnapshots += 1 }
    }
  }

  /// The machine of these records, and whether it started from a snapshot. A snapshot that was opened
  /// before, and whose history moves out of memory, gives the same machine.
  private static func started<Machine>(
    _ records: [DeviceRecord], _ snapshots: Snapshots?, _ isIgnored: KeyPath<Machine, Bool>,
    _ make: ([DeviceRecord], OpenedSnapshot?) -> Machine
  ) -> (Machine, isEarly: Bool) {
    let complete = make(records.filter { $0.key != .snapshot }, nil)
    guard let snapshot = records.firstSnapshot else { return (complete, false) }
    let early = make(records.withoutCovered, nil)
    guard !early[keyPath: isIgnored] else { return (make(records, nil), false) }
    let state = snapshots?.read(snapshot)
    let opened = make(records.withoutCovered.filter { $0.key != .snapshot }, state)
    for machine in [early, opened] {
      let difference = Reflection(machine).difference(Reflection(complete))
      #expect(difference == nil, "a snapshot lacks state")
    }
    return (opened, true)
  }

  /// The handles that the app names when it starts.
  static let named =
    ["ada", "ben", "bob", "dragonslayer42", "eve", "pa"].map { Handle($0, .custom) }
    + ["+15550100", "+15550199"].map { Handle($0, .phoneNumber) }

  /// Starts a process of the app from its durable records.
  mutating func startApp(on id: UInt32) {
    let records = (appDisks[id] ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { try! AppRecord.decode(key: $0.key, value: $0.value) }
    apps[id] = AppMachine(
      Self.app, trusting: appVerifies ? (appSecurity, KeyVault.Public()) : nil,
      restoring: records)
    app(id, .subscribe(.communication))
    app(id, .subscribe(.significantUpdate))
    app(id, .name(Self.named))
    app(id, .connected)
  }

  mutating func app(_ id: UInt32, _ input: AppMachine.Input) {
    for effect in apps[id]!.step(input) { carryOut(effect, of: id) }
  }

  // MARK: Actions of people

  func known(_ device: UInt32 = 3) -> [String] {
    apps[device]!.known.sorted().map(\.value).sorted()
  }

  @discardableResult
  mutating func ask(_ handles: String..., on device: UInt32 = 3) -> QuestionID {
    ask(handles: handles.map { Handle($0, .custom) }, on: device)
  }

  @discardableResult
  mutating func ask(
    handles: [Handle], default choice: Choice = .decline, choices: [Choice] = [.approve, .decline],
    on device: UInt32 = 3
  ) -> QuestionID {
    var question = question(handles, choice)
    question.choices = choices
    app(device, .ask(question, .byMessage))
    child(device, .answered(prompt: nextQuestion, .send(names: [])))
    return question.id
  }

  private mutating func question(_ handles: [Handle], _ choice: Choice) -> Question {
    nextQuestion += 1
    return Question(
      id: QuestionID(high: questionSeries, low: nextQuestion),
      topic: .communication(
        people: handles.map { Subject(handle: $0) }, actions: .message), defaultChoice: choice)
  }

  /// A guardian sets the passcode with this key.
  mutating func choosePasscode(_ secret: DeviceKeys) {
    chosenPasscode = secret
    guardian(1, .choosePasscode("258013"))
  }

  /// A guardian types the passcode on the child's device.
  mutating func inPerson(_ handle: String, passcode: DeviceKeys, on device: UInt32 = 3) {
    let question = question([Handle(handle, .custom)], .decline)
    app(device, .ask(question, .inPerson))
    typedPasscode = passcode
    child(device, .answered(prompt: nextQuestion, .passcode("258013", choice: nil)))
  }

  mutating func answer(_ question: QuestionID, _ choice: String, by device: UInt32 = 1) {
    guardian(device, .answer(question, choice: choice))
  }

  /// Changes the roster, signed by a device.
  ///
  /// - Returns: The problem with which the device or the relay refuses the roster.
  mutating func change(by signer: UInt32 = 1, _ body: (inout Roster) -> Void) -> Problem? {
    var next = roster
    body(&next)
    let signed: SignedCommand
    do throws(Problem) {
      signed = try machines.guardians[signer]!.prepare(.setRoster(next), now: machines.now)[0]
    } catch { return error }
    let problem = request(signer, 1, .command(signed.id, signed.command, signed.signature))
    if problem == nil { roster = next }
    return problem
  }

  // MARK: Effects

  mutating func carryOut(_ effect: DeviceEffect, of id: UInt32) {
    switch effect {
    case .requestAdmission(let command):
      wantingToAsk.append(command)
      if admitsQuestions { child(id, .admitted(command)) }
    case .derivePasscode(_, let evaluation):
      guard let chosenPasscode else { return }
      guardian(
        id,
        .setPasscode(
          Passcode(
            salt: Array(repeating: 0, count: 16), logCost: 4,
            publicKey: chosenPasscode.signingKey, relayKey: evaluation.relayKey)))
    case .makeSnapshot(let number): makeSnapshot(number, of: id)
    case .checkPasscode(let prompt, _, _, _, let bytes):
      guard let typedPasscode else { return }
      child(id, .passcodeChecked(prompt: prompt, proof: KeyVault(typedPasscode).sign(bytes)))
    case .app(_, let reply):
      for reply in tellApp(reply, id) { tell(reply, id) }
    case .notify(.historyLost(let audience, let seqs)):
      lost[id, default: []].append((audience, seqs))
    case .notify(.eventRejected(let problem)): problems[id, default: []].append(problem)
    case .notify(.refused(_, let problem)): refused[id, default: []].append(problem)
    case .notify(.unopened(let count)): unopened[id, default: []].append(count)
    case .notify(.appRejected(_, let problem)):
      reported[id, default: []].append(problem)
    default: break
    }
  }

  /// Sends the app a reply over its socket.
  mutating func tell(_ reply: AppReply, _ id: UInt32) {
    guard apps[id] != nil else { return }
    let bytes = reply.encode()
    if id == 3 {
      toApp.append(bytes)
      if case .entry(let entry) = reply { toldEntries.append(entry) }
    }
    app(id, .reply(try! bytes.withUnsafeBytes { try AppReply.decode($0) }))
  }

  private mutating func carryOut(_ effect: AppMachine.Effect, of id: UInt32) {
    switch effect {
    case .persist(let changes):
      for change in changes {
        switch change {
        case .put(let record): appDisks[id, default: [:]][record.key] = record.value
        case .remove(let record): appDisks[id, default: [:]][record.key] = nil
        case .forgetAll:
          appDisks[id] = (appDisks[id] ?? [:]).filter { $0.key.first != AppRecord.knownPrefix[0] }
        }
      }
    case .rejected(let problem): appProblems[id, default: []].append(problem)
    case .send(let request): child(id, .app(Self.app, request))
    case .deliver(let position, _, let choice):
      answers[id, default: []].append(choice)
      for effect in apps[id]!.step(.consumed(position)) { carryOut(effect, of: id) }
    case .asked(let id, let outcome): outcomes[id] = outcome
    default: break
    }
  }

  // MARK: The wire

  mutating func transmit(_ request: Request, number: UInt64, from id: UInt32) -> Request {
    var request = request
    if !verifies, case .command(let command, let what, nil) = request {
      request = .command(command, what, signature(of: what, command, by: id))
    }
    let bytes = Envelope(device: address(id), requestID: number, request: request).encode()
    frames.append(bytes)
    return try! bytes.withUnsafeBytes { try Envelope.decode($0) }.request
  }

  /// The signature of a device without cryptography. The relay verifies that of the first roster,
  /// and only the shape of the others.
  private func signature(of command: Command, _ id: CommandID, by device: UInt32) -> Signature {
    if device == 0, case .setRoster(let roster) = command {
      return sign(.rosterChanged(roster), id, .family, basedOnSeq: 0)
    }
    return Signature(
      signer: DeviceID(device), basedOnSeq: rosterSeq, bytes: Array(repeating: 0, count: 64))
  }

  mutating func transmit(_ reply: Reply, number: UInt64, to device: UInt32) -> Reply {
    var reply = reply
    if case .page(let audience, let events, let more) = reply {
      if formerDecoders.contains(device), events.contains(where: \.body.isOpaque) { return .pong }
      let events = events.flatMap { tamper($0, device) }
      reply = .page(audience, relinks ? relinked(events, for: device) : events, more: more)
    }
    let bytes = ReplyEnvelope(device: address(device), requestID: number, reply: reply).encode()
    frames.append(bytes)
    let decoded = try! bytes.withUnsafeBytes { try ReplyEnvelope.decode($0) }.reply
    return verifies ? decoded : decoded.opened()
  }

  mutating func transmit(_ broadcast: Broadcast, to device: UInt32) -> [Broadcast] {
    guard case .event(let event) = broadcast else { return [transmit(broadcast)] }
    let events = tamper(event, device)
    if formerDecoders.contains(device), events.contains(where: \.body.isOpaque) { return [] }
    return (relinks ? relinked(events, for: device) : events).map { transmit(.event($0)) }
  }

  private mutating func transmit(_ broadcast: Broadcast) -> Broadcast {
    let bytes = broadcast.encode()
    frames.append(bytes)
    let decoded = try! Broadcast.decode(bytes)
    return verifies ? decoded : decoded.opened()
  }

  func stored(_ event: Event) -> Event { try! Event.decode(event.encode()) }

  /// Broadcasts an event to one device, as the relay does with a new event.
  mutating func hand(_ event: Event, to device: UInt32) {
    for event in relinked([event], for: device) { deliver(transmit(.event(event)), to: device) }
  }
}
