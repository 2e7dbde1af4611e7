@testable import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire

/// A family whose devices have real keys: a child's two devices with an app, two guardians, and a relay. All
/// that travels is encoded and decoded as on a socket; and the test may be the relay's operator.
struct Household {
  static let family = FamilyID(1)
  static let emily = PersonID(3)
  static let app = AppID("example.landmarks")

  let keys: [UInt32: DeviceKeys]
  var now = Instant(milliseconds: 1_700_000_000_000)
  var roster: Roster
  var relay = RelayMachine(verify: KeyVault.verify)
  var log: [Event] = []
  var children: [UInt32: ChildMachine] = [:]
  var guardians: [UInt32: GuardianMachine] = [:]
  var apps: [UInt32: AppMachine] = [:]
  var disks: [UInt32: [RecordKey: DeviceRecord]] = [:]
  var away: Set<UInt32> = []
  /// What the relay hands a device instead of an event.
  var tamper: (_ event: Event, _ device: UInt32) -> [Event] = { event, _ in [event] }
  /// Every frame that the relay saw or made.
  var frames: [[UInt8]] = []
  var problems: [UInt32: [Problem]] = [:]
  var outcomes: [QuestionID: AskOutcome] = [:]
  /// Responses that the app's code got.
  var answers: [UInt32: [Choice]] = [:]
  /// Whether devices verify: the tests must notice when they do not.
  var verifies = true
  private var nextSeed: UInt64 = 1
  private var nextQuestion: UInt64 = 0

  init(verifies: Bool = true, connected: [UInt32] = [1, 2, 3, 4]) {
    self.verifies = verifies
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
    verifies ? Security(KeyVault(keys[id]!), organizerKey: keys[1]!.signingKey) : nil
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
        signed.signature ?? sign(.rosterChanged(roster), signed.id, .family, seen: 0))
      request(0, 1, command)
    }
  }

  /// Starts a device from what is durable.
  mutating func restore(_ id: UInt32) {
    let records = (disks[id] ?? [:]).values.sorted { "\($0.key)" < "\($1.key)" }
      .map { try! DeviceRecord.decode(key: $0.key.bytes, value: $0.value) }
    let person = roster.device(DeviceID(id))!.person
    if roster.person(person)!.role == .child {
      children[id] = ChildMachine(
        address(id), of: person, apps: [Self.app], security: security(id), restoring: records,
        ids: ids())
      apps[id] = AppMachine(Self.app)
      child(id, .app(Self.app, .attach(app: Self.app, applied: 0)))
      for effect in apps[id]!.step(.subscribe(.communication)) { carryOut(effect, of: id) }
      for effect in apps[id]!.step(.connected) { carryOut(effect, of: id) }
    } else {
      guardians[id] = GuardianMachine(
        address(id), of: person, security: security(id), restoring: records, ids: ids())
    }
  }

  // MARK: what people do

  func known(_ device: UInt32 = 3) -> [String] {
    apps[device]!.known.sorted().map(\.value).sorted()
  }

  @discardableResult
  mutating func ask(_ handles: String..., on device: UInt32 = 3) -> QuestionID {
    nextQuestion += 1
    let id = QuestionID(high: 77, low: nextQuestion)
    let question = Question(
      id: id,
      topic: .communication(
        people: handles.map { Subject(handle: Handle($0, .custom)) }, actions: .message))
    child(device, .app(Self.app, .ask(question, .byMessage)))
    child(device, .answered(prompt: nextQuestion, .send(names: [])))
    return id
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

  /// Changes the family, signed by a device.
  mutating func change(by signer: UInt32 = 1, _ body: (inout Roster) -> Void) -> Problem? {
    var next = roster
    body(&next)
    let signed = try! guardians[signer]!.prepare(.setRoster(next), now: now)[0]
    let problem = request(signer, 1, .command(signed.id, signed.command, signed.signature))
    if problem == nil { roster = next }
    return problem
  }

  mutating func wait(_ milliseconds: Int64) {
    let end = now + milliseconds
    while now < end {
      let deadlines =
        [relay.deadline] + children.values.map(\.deadline) + guardians.values.map(\.deadline)
      now = max(now + 1, min(end, deadlines.compactMap { $0 }.min() ?? end))
      if let due = relay.deadline, due <= now { step(.timer) }
      for id in children.keys.sorted() {
        if let due = children[id]!.deadline, due <= now { child(id, .timer) }
      }
      for id in guardians.keys.sorted() {
        if let due = guardians[id]!.deadline, due <= now { guardian(id, .timer) }
      }
    }
  }

  // MARK: effects

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
    case .app(_, let reply):
      for effect in apps[id]?.step(.reply(reply)) ?? [] { carryOut(effect, of: id) }
    case .notify(.disbelieved(let problem)): problems[id, default: []].append(problem)
    default: break
    }
  }

  private mutating func carryOut(_ effect: AppMachine.Effect, of id: UInt32) {
    switch effect {
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
    let bytes = Envelope(device: address(id), requestID: number, request: body).encode()
    frames.append(bytes)
    let envelope = try! bytes.withUnsafeBytes { try Envelope.decode($0) }
    return step(
      .request(
        address(id), key: Self.curveKey(id), administrator: id == 0, id: number, envelope.request))
  }

  @discardableResult
  private mutating func step(_ input: RelayMachine.Input) -> Problem? {
    var problem: Problem?
    for effect in relay.step(input, now: now) {
      switch effect {
      case .append(_, let event): log.append(try! Event.decode(event.encode()))
      case .cursor, .approve: break
      case .reply(let device, let id, let reply):
        if case .refused(_, let refusal) = reply { problem = refusal }
        deliver(reply, id, to: device.device.rawValue)
      case .page(let device, let id, let audience, let after, _):
        page(audience, after: after, id, to: device.device.rawValue)
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
        state.isMember(person, of: audience)
      else { continue }
      if case .event(let event) = broadcast {
        for event in tamper(event, device.id.rawValue) { hand(event, to: device.id.rawValue) }
      } else {
        hand(broadcast, to: device.id.rawValue)
      }
    }
  }

  /// Hands a device an event, as the relay does with one that was just made.
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

  // MARK: the operator's own

  /// The event after all others of the audience, as a relay would make it up.
  func forged(
    _ body: Event.Body, in audience: Audience = .conversation(emily), by device: UInt32 = 1,
    id: CommandID? = nil, signature: Signature? = nil
  ) -> Event {
    Event(
      seq: (log.last?.seq ?? 0) + 1,
      previous: log.last { $0.audience == audience }?.seq ?? 0, audience: audience,
      command: id ?? CommandID(high: UInt64(now.milliseconds + 1) << 16, low: 5),
      device: DeviceID(device), at: now, body: body, signature: signature)
  }

  /// A signature by whichever keys the operator has got hold of.
  func sign(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience = .conversation(emily),
    as device: UInt32 = 1, with keys: DeviceKeys? = nil, seen: UInt64 = 1,
    about question: QuestionHeader? = nil
  ) -> Signature {
    let vault = KeyVault(keys ?? self.keys[device]!)
    let bytes = SignedBytes.of(
      body, id, in: Self.family, audience, by: DeviceID(device), seen: seen, question: question,
      bytes: vault.bytes)
    return Signature(signer: DeviceID(device), seen: seen, bytes: vault.sign(bytes))
  }

  /// The same event under a new place at the end of the log.
  func again(_ event: Event) -> Event {
    var copy = event
    copy.seq = (log.last?.seq ?? 0) + 1
    copy.previous = log.last { $0.audience == event.audience }?.seq ?? 0
    copy.at = now
    return copy
  }

  func header(_ question: QuestionID) -> QuestionHeader {
    relay.state(of: Self.family)!.questions[question]!.header
  }

  func event(_ isWanted: (Event.Body) -> Bool) -> Event { log.last { isWanted($0.body) }! }
}
