import FamilyCore
import FamilyModel
import RelayWire

/// A family of organizer 1, guardian 2, children 3 and 4, and adult 5. Person p has device 10·p.
///
/// A signature is valid if its first byte is 1. The invariants are preconditions:
/// - The relay answers each request once, and an acknowledgement at most once.
/// - Sequence numbers and the audiences' chains have no gaps.
/// - A family that is evicted and loaded again is equal to itself.
struct FuzzedFamily {
  static let id = FamilyID(7)
  var relay = RelayMachine(
    verify: { _, signature, _ in signature.first == 1 }, snapshotEvery: 4)
  var now = Instant(milliseconds: 1_700_000_000_000)
  var log: [Event] = []
  var snapshot: [UInt8] = []
  var heads: [Audience: UInt64] = [:]
  private var lastID: UInt64 = 0

  static func key(_ device: UInt32) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: device), count: 32)
  }

  static func device(_ person: UInt32, isSigning: Bool) -> Device {
    let key = key(person * 10)
    return Device(
      id: DeviceID(person * 10), person: PersonID(person), publicKey: key,
      signingKey: isSigning ? key : [], agreementKey: isSigning ? key : [])
  }

  static let roster = Roster(
    persons: [Role.organizer, .guardian, .child, .child, .adult].enumerated().map {
      Person(id: PersonID(UInt32($0 + 1)), role: $1, displayName: "P\($0 + 1)")
    },
    devices: (1...5).map { device($0, isSigning: false) })

  init(isSigned: Bool = false) {
    relay.load(Self.id, events: [], cursors: [], now: now)
    var roster = Self.roster
    roster.devices = (1...5).map { Self.device($0, isSigning: isSigned) }
    let signature = Signature(
      signer: DeviceID(10), basedOnSeq: 0, bytes: Array(repeating: 1, count: 64))
    send(0, .command(ID128(high: 0, low: 1), .setRoster(roster), isSigned ? signature : nil))
  }

  /// The family as a maker of commands knows it.
  var scene: FuzzScene {
    let state = relay.state(of: Self.id)
    return FuzzScene(
      now: now, roster: state?.roster ?? Self.roster,
      questions: log.compactMap { event in
        if case .asked(let header, _) = event.body { header.id } else { nil }
      })
  }

  /// An id of the present; the same byte makes the same id until the clock moves.
  func freshID(_ byte: UInt8) -> CommandID {
    CommandID(high: UInt64(truncatingIfNeeded: now.milliseconds) << 16, low: UInt64(byte))
  }

  /// Sends the request, unless no message can carry it.
  ///
  /// - Returns: The effects of the relay.
  @discardableResult
  mutating func send(_ device: UInt32, _ request: Request, key: [UInt8]? = nil)
    -> [RelayMachine.Effect]
  {
    lastID += 1
    let sent = Envelope(
      device: DeviceAddress(family: Self.id, device: DeviceID(device)), requestID: lastID,
      request: request)
    guard let request = try? sent.encode().withUnsafeBytes({ try Envelope.decode($0) }).request
    else { return [] }
    let wasSigned = relay.state(of: Self.id)?.roster.isSigned ?? false
    defer {
      precondition(
        !wasSigned || relay.state(of: Self.id)?.roster.isSigned ?? false, "a family lost its keys")
    }
    let id = RequestID(lastID)
    let address = DeviceAddress(family: Self.id, device: DeviceID(device))
    let effects = relay.step(
      .request(
        address, key: key ?? Self.key(device), administrator: device == 0, id: id, request),
      now: now)
    apply(effects)
    let answers = effects.count {
      switch $0 {
      case .reply(address, id, _), .page(address, id, _, _, _): true
      default: false
      }
    }
    if case .acknowledge = request {
      precondition(answers <= 1, "the relay answered an acknowledgement more than once")
    } else {
      precondition(answers == 1, "\(answers) answers to one request")
    }
    return effects
  }

  mutating func apply(_ effects: [RelayMachine.Effect]) {
    for case .snapshot(_, _, let bytes) in effects { snapshot = bytes }
    for case .append(let family, let event) in effects {
      precondition(family == Self.id && event.seq == UInt64(log.count) + 1, "a gap in the log")
      precondition(event.previous == heads[event.audience] ?? 0, "a gap in a chain")
      heads[event.audience] = event.seq
      log.append(event)
    }
  }

  mutating func reload() {
    let before = relay.state(of: Self.id)
    relay.evict(Self.id)
    let decodedLog = log.map { event in
      guard let decoded = try? Event.decode(event.encode()) else {
        fatalError("an encoded event does not decode")
      }
      return decoded
    }
    relay.load(Self.id, events: decodedLog, cursors: [], now: now)
    precondition(relay.state(of: Self.id) == before, "a reloaded family differs")
    guard let state = FamilyState(snapshot: snapshot) else { return }
    relay.load(
      Self.id, snapshot: state, events: Array(decodedLog[Int(state.seq)...]), cursors: [], now: now)
    precondition(relay.state(of: Self.id) == before, "a family loaded from a snapshot differs")
  }
}

func fuzzCore(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  var family = FuzzedFamily(isSigned: input.byte() & 1 == 1)
  var steps = 0
  while !input.isAtEnd, steps < 128 {
    steps += 1
    let device = UInt32(input.pick(6)) * 10
    switch input.pick(10) {
    case 0:
      let chunk = input.chunk()
      guard let envelope = try? chunk.withUnsafeBytes({ try Envelope.decode($0) }) else {
        continue
      }
      family.send(device, envelope.request)
    case 1:
      // An unknown key, or the key of another member.
      let key = FuzzedFamily.key(UInt32(input.byte()))
      guard device != 0, key != FuzzedFamily.key(device) else { continue }
      let effects = family.send(device, .attach([]), key: key)
      precondition(effects.count == 1, "a request under a wrong key had an effect")
    case 2: family.now = family.now + .seconds(10) * Int(input.byte())
    case 3: family.apply(family.relay.step(.timer, now: family.now))
    case 4: family.reload()
    case 5: subscribe(&input, &family, device)
    case 6:
      var join = input.joinRequest()
      if !input.isRare(4) { join.publicKey = FuzzedFamily.key(UInt32(input.byte())) }
      family.send(device, .join(join), key: join.publicKey)
    default: family.send(device, request(&input, family, device))
    }
  }
  family.reload()
}

private func request(_ input: inout Bytes, _ family: FuzzedFamily, _ device: UInt32) -> Request {
  let kind = input.isRare(4) ? input.any(RequestKind.allCases) : .command
  return kind.make(&input, FuzzedFamily.id) { input in
    let kind = input.any(CommandKind.allCases)
    let open = family.scene.make(kind, &input)
    precondition(CommandKind(open) == kind)
    let id = input.isRare(4) ? input.commandID(family.now) : family.freshID(input.byte())
    return .command(id, open, signature(&input, device, UInt64(family.log.count)))
  }
}

private func subscribe(_ input: inout Bytes, _ family: inout FuzzedFamily, _ device: UInt32) {
  let key = input.isRare(4) ? FuzzedFamily.key(UInt32(input.byte())) : FuzzedFamily.key(device)
  let address = DeviceAddress(family: FuzzedFamily.id, device: DeviceID(device))
  let effects = family.relay.step(.subscribed(address, key: key), now: family.now)
  guard !effects.isEmpty, let state = family.relay.state(of: FuzzedFamily.id) else { return }
  precondition(
    state.roster.devices.contains { $0.id == address.device && $0.publicKey == key },
    "heads for an unknown key were broadcast")
  for case .broadcast(_, let generation, let audience, _) in effects {
    precondition(state.generation(audience) == generation, "a head on an old channel")
    var readers: Set<[UInt8]> = []
    family.relay.forEachReader(of: audience, in: FuzzedFamily.id) { readers.insert($0) }
    precondition(readers.contains(key), "a head for a key that is no reader")
  }
}

/// No signature, a valid one or an invalid one. Signer and `basedOnSeq` may be wrong.
private func signature(_ input: inout Bytes, _ device: UInt32, _ last: UInt64) -> Signature? {
  let choice = input.byte()
  guard choice & 3 != 0 else { return nil }
  let signer = choice & 4 == 0 ? (device == 0 ? 10 : device) : UInt32(input.pick(6)) * 10
  let basedOnSeq = choice & 8 == 0 ? last : UInt64(input.byte())
  return Signature(
    signer: DeviceID(signer), basedOnSeq: basedOnSeq,
    bytes: Array(repeating: choice & 3 == 3 ? 0 : 1, count: 64))
}
