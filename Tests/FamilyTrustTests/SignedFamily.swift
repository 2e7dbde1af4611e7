@testable import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire

/// A family with real keys: a child's two devices with an app, two guardians, and a relay. Every
/// message is encoded and decoded as on a socket. Tests can act as the relay's operator.
struct SignedFamily {
  static let family = FamilyID(1)
  static let emily = PersonID(3)
  static let app = AppID("example.landmarks")

  let keys: [UInt32: DeviceKeys]
  var now = Instant(milliseconds: 1_700_000_000_000)
  var roster: Roster
  var relay = RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest)
  var log: [Event] = []
  var children: [UInt32: ChildMachine] = [:]
  var guardians: [UInt32: GuardianMachine] = [:]
  var apps: [UInt32: AppMachine] = [:]
  var disks: [UInt32: [RecordKey: DeviceRecord]] = [:]
  var away: Set<UInt32> = []
  /// Replaces an event that the relay sends to a device.
  var tamper: (_ event: Event, _ device: UInt32) -> [Event] = { event, _ in [event] }
  /// Every frame that the relay received or sent.
  var frames: [[UInt8]] = []
  var problems: [UInt32: [Problem]] = [:]
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
  /// Whether questions are admitted at once.
  var admitsQuestions = true
  var wantingToAsk: [CommandID] = []
  private var nextSeed: UInt64 = 1
  private var nextQuestion: UInt64 = 0

  init(
    verifies: Bool = true, appVerifies: Bool = true, connected: [UInt32] = [1, 2, 3, 4]
  ) {
    self.verifies = verifies
    self.appVerifies = verifies && appVerifies
    let keys = Dictionary(uniqueKeysWithValues: (1...6).map { (UInt32($0), DeviceKeys()) })
    self.keys = keys
    roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: PersonID(2), role: .guardian, displayName: "Alex"),
        Person(id: Self.emily, role: .child, displayName: "Emily"),
      ],
      devices: [(1, 1), (2, 2), (3, 3), (4, 3)].map { Self.device($0.0, $0.1, keys) })
    relay.load(Self.family, events: [], cursors: [], now: now)
    found()
    for id: UInt32 in [1, 2] { restore(id) }
    for id: UInt32 in [3, 4] { restore(id) }
    for id in connected { connect(id) }
  }

  static func device(_ id: UInt32, _ person: UInt32, _ keys: [UInt32: DeviceKeys]) -> Device {
    Device(
      id: DeviceID(id), person: PersonID(person), publicKey: curveKey(id), keys: keys[id]!)
  }

  private static func curveKey(_ id: UInt32) -> [UInt8] { .init(repeating: UInt8(id), count: 32) }

  func address(_ id: UInt32) -> DeviceAddress {
    DeviceAddress(family: Self.family, device: DeviceID(id))
  }

  func security(_ id: UInt32) -> Security? {
    verifies
      ? Security(KeyVault(keys[id]!, sharing: verified), organizerKey: keys[1]!.signingKey) : nil
  }

  private mutating func ids() -> IDSource {
    nextSeed += 1
    return IDSource(seed: nextSeed)
  }

  private mutating func found() {
    var organizer = GuardianMachine(
      address(1), of: PersonID(1), security: security(1), ids: ids())
    for signed in try! organizer.prepare(.setRoster(roster), now: now) {
      let command = Request.command(
        signed.id, signed.command,
        signed.signature ?? sign(.rosterChanged(roster), signed.id, .family, basedOnSeq: 0))
      request(0, 1, command)
    }
  }

  /// Starts a device from its durable records.
  mutating func restore(_ id: UInt32, _ security: Security? = nil) {
    let security = security ?? self.security(id)
    let records = (disks[id] ?? [:]).values.sorted { "\($0.key)" < "\($1.key)" }
      .map { try! DeviceRecord.decode(key: $0.key.bytes, value: $0.value) }
    let person = roster.device(DeviceID(id))!.person
    if roster.person(person)!.role == .child {
      children[id] = ChildMachine(
        address(id), of: person, apps: [Self.app], security: security, restoring: records,
        ids: ids())
      startApp(on: id)
    } else {
      guardians[id] = GuardianMachine(
        address(id), of: person, security: security, restoring: records, ids: ids())
    }
  }

  /// Starts a process of the app from its durable records.
  mutating func startApp(on id: UInt32) {
    let records = (appDisks[id] ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { try! AppRecord.decode(key: $0.key, value: $0.value) }
    apps[id] = AppMachine(
      Self.app, trusting: appVerifies ? (appSecurity, KeyVault.Public()) : nil,
      restoring: records)
    app(id, .subscribe(.communication))
    app(id, .subscribe(.significantUpdate))
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
    handles: [Handle], default choice: Choice = .decline, on device: UInt32 = 3
  ) -> QuestionID {
    let question = question(handles, choice)
    app(device, .ask(question, .byMessage))
    child(device, .answered(prompt: nextQuestion, .send(names: [])))
    return question.id
  }

  private mutating func question(_ handles: [Handle], _ choice: Choice) -> Question {
    nextQuestion += 1
    return Question(
      id: QuestionID(high: 77, low: nextQuestion),
      topic: .communication(
        people: handles.map { Subject(handle: $0) }, actions: .message), defaultChoice: choice)
  }

  /// A guardian types the passcode on the child's device.
  mutating func inPerson(_ handle: String, passcode: DeviceKeys, on device: UInt32 = 3) {
    let question = question([Handle(handle, .custom)], .decline)
    app(device, .ask(question, .inPerson))
    let prompt = nextQuestion
    for effect in children[device]!.step(
      .answered(prompt: prompt, .passcode("2580", choice: nil)), now: now)
    {
      guard case .checkPasscode(let number, _, _, let bytes) = effect else { continue }
      child(
        device, .passcodeChecked(prompt: number, proof: KeyVault(passcode).sign(bytes)))
    }
  }

  mutating func answer(_ question: QuestionID, _ choice: String, by device: UInt32 = 1) {
    guardian(device, .answer(question, choice: choice))
  }

  mutating func connect(_ id: UInt32) {
    away.remove(id)
    if guardians[id] != nil { guardian(id, .connected) } else { child(id, .connected) }
  }

  mutating func disconnect(_ id: UInt32) {
    away.insert(id)
    if guardians[id] != nil { guardian(id, .disconnected) } else { child(id, .disconnected) }
  }

  mutating func child(_ id: UInt32, _ input: ChildMachine.Input) {
    for effect in children[id]!.step(input, now: now) { carryOut(effect, of: id) }
  }

  mutating func guardian(_ id: UInt32, _ input: GuardianMachine.Input) {
    for effect in guardians[id]!.step(input, now: now) { carryOut(effect, of: id) }
  }

  /// Changes the roster, signed by a device.
  mutating func change(by signer: UInt32 = 1, _ body: (inout Roster) -> Void) -> Problem? {
    var next = roster
    body(&next)
    let signed = try! guardians[signer]!.prepare(.setRoster(next), now: now)[0]
    let problem = request(signer, 1, .command(signed.id, signed.command, signed.signature))
    if problem == nil { roster = next }
    return problem
  }

  mutating func wait(_ duration: Milliseconds) {
    let end = now + duration
    while now < end {
      let deadlines =
        [relay.deadline] + children.values.map(\.deadline) + guardians.values.map(\.deadline)
      now = max(now + .milliseconds(1), min(end, deadlines.compactMap { $0 }.min() ?? end))
      if let due = relay.deadline, due <= now { step(.timer) }
      for id in children.keys.sorted() {
        if let due = children[id]!.deadline, due <= now { child(id, .timer) }
      }
      for id in guardians.keys.sorted() {
        if let due = guardians[id]!.deadline, due <= now { guardian(id, .timer) }
      }
    }
  }

  // MARK: Effects

  private mutating func carryOut(_ effect: DeviceEffect, of id: UInt32) {
    switch effect {
    case .persist(let changes):
      for change in changes {
        switch change {
        case .put(let record): disks[id, default: [:]][record.key] = record
        case .delete(let key): disks[id, default: [:]][key] = nil
        }
      }
    case .send(let number, let body): if !away.contains(id) { request(id, number, body) }
    case .requestAdmission(let command):
      wantingToAsk.append(command)
      if admitsQuestions { child(id, .admitted(command)) }
    case .app(_, let reply):
      for reply in tellApp(reply, id) { tell(reply, id) }
    case .notify(.eventRejected(let problem)): problems[id, default: []].append(problem)
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

  @discardableResult
  mutating func request(_ id: UInt32, _ number: UInt64, _ body: Request) -> Problem? {
    var body = body
    if !verifies, case .command(let command, let what, nil) = body {
      // Devices without cryptography send a signature of the right shape.
      let shape = Signature(
        signer: DeviceID(id), basedOnSeq: 0, bytes: Array(repeating: 0, count: 64))
      body = .command(command, what, shape)
    }
    let bytes = Envelope(device: address(id), requestID: number, request: body).encode()
    frames.append(bytes)
    let envelope = try! bytes.withUnsafeBytes { try Envelope.decode($0) }
    return step(
      .request(
        address(id), key: Self.curveKey(id), administrator: id == 0, id: RequestID(number),
        envelope.request))
  }

  @discardableResult
  private mutating func step(_ input: RelayMachine.Input) -> Problem? {
    var problem: Problem?
    for effect in relay.step(input, now: now) {
      switch effect {
      case .append(_, let event): log.append(try! Event.decode(event.encode()))
      case .snapshot, .cursor, .approve: break
      case .reply(let device, let id, let reply):
        if case .refused(_, let refusal) = reply { problem = refusal }
        deliver(reply, id.rawValue, to: device.device.rawValue)
      case .page(let device, let id, let audience, let after, _):
        page(audience, after: after, id.rawValue, to: device.device.rawValue)
      case .broadcast(_, _, let audience, let broadcast): publish(broadcast, audience)
      case .republish(_, _, let audience, let after, let limit):
        for event in log.filter({ $0.audience == audience && $0.seq > after }).prefix(limit) {
          publish(.event(event), audience)
        }
      }
    }
    return problem
  }

  private mutating func page(_ audience: Audience, after: UInt64, _ id: UInt64, to device: UInt32) {
    let events = log.filter { $0.audience == audience && $0.seq > after }
      .flatMap { tamper($0, device) }
    deliver(.page(audience, events, more: false), id, to: device)
  }

  private mutating func deliver(_ reply: Reply, _ id: UInt64, to device: UInt32) {
    guard !away.contains(device) else { return }
    let bytes = ReplyEnvelope(device: address(device), requestID: id, reply: reply).encode()
    frames.append(bytes)
    let reply = try! bytes.withUnsafeBytes { try ReplyEnvelope.decode($0) }.reply
    let opened = verifies ? reply : reply.opened()
    if guardians[device] != nil { guardian(device, .reply(id, opened)) }
    if children[device] != nil { child(device, .reply(id, opened)) }
  }

  private mutating func publish(_ broadcast: Broadcast, _ audience: Audience) {
    guard let state = relay.state(of: Self.family) else { return }
    for device in state.roster.devices {
      guard let person = state.roster.owner(of: device.id),
        state.roster.isMember(person, of: audience)
      else { continue }
      if case .event(let event) = broadcast {
        for event in tamper(event, device.id.rawValue) { hand(event, to: device.id.rawValue) }
      } else {
        hand(broadcast, to: device.id.rawValue)
      }
    }
  }

  /// Broadcasts an event to one device, as the relay does with a new event.
  mutating func hand(_ event: Event, to device: UInt32) { hand(.event(event), to: device) }

  private mutating func hand(_ broadcast: Broadcast, to device: UInt32) {
    guard !away.contains(device), guardians[device] != nil || children[device] != nil else {
      return
    }
    let bytes = broadcast.encode()
    frames.append(bytes)
    let decoded = try! Broadcast.decode(bytes)
    let opened = verifies ? decoded : decoded.opened()
    if guardians[device] != nil { guardian(device, .broadcast(opened)) }
    if children[device] != nil { child(device, .broadcast(opened)) }
  }
}
