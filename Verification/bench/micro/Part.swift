import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire

/// A small operation to measure, with a reference operation that is its lower bound.
struct Part {
  var name: String
  var referenceName = "a copy of the bytes"
  /// The number of operations in one run.
  var unit = 1
  var run: () -> Void
  var reference: () -> Void

  /// The parts whose instructions are also counted.
  static func all() throws -> [Part] {
    WirePart.all() + [
      ApprovalPart.part(), ApprovalPart.packedPart(), KnownPart.part(count: 10_000),
    ]
      + (try StorePart.all([100]))
  }

  /// The parts whose instructions are not counted: they take too long under callgrind, or depend on the
  /// list of public suffixes.
  static func large() throws -> [Part] {
    SitePart.all() + [KnownPart.part(count: 1_000_000)] + (try StorePart.all([1, 10, 1_000]))
  }
}

/// Keeps the optimizer from removing the computation of an unused value.
@inline(never) func keep<T>(_ value: T) {}

enum WirePart {
  static let device = DeviceAddress(family: FamilyID(123_456), device: DeviceID(2))
  static let id = ID128(high: 0x0199_0000_1234_5678, low: 0x9ABC_DEF0_1234_5678)
  static let signature = Signature(
    signer: DeviceID(2), basedOnSeq: 1, bytes: Array(repeating: 7, count: 64))
  static let header = QuestionHeader(
    id: id, child: PersonID(2), app: AppID("example.landmarks"),
    subjects: Array(repeating: 3, count: 32),
    choices: [
      ChoiceHeader(id: "approve", answer: .approval), ChoiceHeader(id: "decline", answer: .denial),
    ], expiration: nil)
  static let content = Content.sealed(Array(repeating: 7, count: 230))

  static func all() -> [Part] {
    let ask = Envelope(
      device: device, requestID: 9, request: .command(id, .ask(header, content), signature))
    let answer = Envelope(
      device: device, requestID: 9,
      request: .command(id, .answer(id, choice: "approve"), signature))
    let acknowledge = Envelope(
      device: device, requestID: 9,
      request: .acknowledge([Cursor(.conversation(PersonID(2)), delivered: 99)]))
    let asked = Self.event(.asked(header, content))
    let text = Self.event(.posted(child: PersonID(2), content)).encode()
    let accepted = ReplyEnvelope(device: device, requestID: 9, reply: .accepted(id, seq: 42))
    let event = asked.encode()
    return [
      reading("decode a question", ask.encode()) { keep(try? Envelope.decode($0)) },
      reading("decode an answer", answer.encode()) { keep(try? Envelope.decode($0)) },
      reading("decode an acknowledgement", acknowledge.encode()) {
        keep(try? Envelope.decode($0))
      },
      reading("peek at a question", ask.encode()) { keep(Envelope.peek($0)) },
      writing("encode a question's event", event) { keep(asked.encode()) },
      Part(
        name: "decode a question's event", run: { keep(try? Event.decode(event)) },
        reference: copying(event)),
      Part(
        name: "decode a text's event", run: { keep(try? Event.decode(text)) },
        reference: copying(text)),
      writing("encode an event's broadcast", Broadcast.encode(event: event)) {
        keep(Broadcast.encode(event: event))
      },
      writing("encode an acceptance", accepted.encode()) { keep(accepted.encode()) },
    ]
  }

  private static func event(_ body: Event.Body) -> Event {
    Event(
      seq: 42, previous: 40, audience: .conversation(PersonID(2)), command: id,
      device: DeviceID(2), at: Instant(milliseconds: 1_763_000_000_000), body: body,
      signature: signature)
  }

  private static func reading(
    _ name: String, _ bytes: [UInt8], _ body: @escaping (UnsafeRawBufferPointer) -> Void
  ) -> Part {
    Part(name: name, run: { bytes.withUnsafeBytes(body) }, reference: copying(bytes))
  }

  private static func writing(_ name: String, _ bytes: [UInt8], _ body: @escaping () -> Void)
    -> Part
  {
    Part(name: name, run: body, reference: copying(bytes))
  }

  private static func copying(_ bytes: [UInt8]) -> () -> Void {
    { bytes.withUnsafeBytes { keep([UInt8]($0)) } }
  }
}

/// One approval in the relay machine: question, answer and both devices' acknowledgements.
enum ApprovalPart {
  static let families: UInt64 = 100

  private final class World {
    var relay: RelayMachine
    var ids = IDSource(seed: 1)
    var now = Instant(milliseconds: 1_763_000_000_000)
    var number: UInt64 = 0
    var effects: [RelayMachine.Effect] = []
    let keys = [[], [UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]

    init(open: Int = 8_192) {
      relay = RelayMachine(
        verify: { _, _, _ in true }, digest: KeyVault.digest, resultsKept: 64, openFamilies: open)
      let roster = Roster(
        persons: [
          Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
          Person(id: PersonID(2), role: .child, displayName: "Emily"),
        ],
        devices: [
          Device(id: DeviceID(1), person: PersonID(1), publicKey: keys[1]),
          Device(id: DeviceID(2), person: PersonID(2), publicKey: keys[2]),
        ])
      for family in 1...families {
        relay.load(FamilyID(family), events: [], cursors: [], now: now)
        send(.command(ids.id(now: now), .setRoster(roster), nil), 0, family)
      }
    }

    func send(_ request: Request, _ device: UInt32, _ family: UInt64) {
      // A subscribed device's command carries no request id: its event acknowledges the command.
      let id: RequestID =
        if case .command = request { .unnumbered } else { RequestID(number) }
      effects.removeAll(keepingCapacity: true)
      let address = DeviceAddress(family: FamilyID(family), device: DeviceID(device))
      relay.step(
        .request(
          address, key: keys[Int(device)], administrator: device == 0, id: id, request),
        now: now, into: &effects)
    }

    func approve() {
      number += 1
      now = now + .milliseconds(1)
      let family = number % families + 1
      let conversation = Audience.conversation(PersonID(2))
      var header = WirePart.header
      header.id = ids.id(now: now)
      send(
        .command(ids.id(now: now), .ask(header, WirePart.content), WirePart.signature), 2, family)
      send(
        .command(
          ids.id(now: now), .answer(header.id, choice: "approve"), WirePart.signature), 1, family)
      guard case .append(_, let event)? = effects.first else { fatalError("not accepted") }
      for device: UInt32 in [1, 2] {
        send(.acknowledge([Cursor(conversation, delivered: event.seq)]), device, family)
      }
      guard number % 64 == 0 else { return }
      effects.removeAll(keepingCapacity: true)
      relay.step(.timer, now: now, into: &effects)
    }
  }

  static func part() -> Part {
    let world = World()
    var table: [UInt64: [UInt8]] = [:]
    for family in 1...families { table[family] = Array(repeating: 7, count: 300) }
    var number: UInt64 = 0
    return Part(
      name: "the machine's steps of an approval",
      referenceName: "4 look-ups in a dictionary, 2 copies of 300 bytes",
      run: { world.approve() },
      reference: {
        number += 1
        for _ in 0..<4 { keep(table[number % families + 1]?.count) }
        for _ in 0..<2 { table[number % families + 1]?[0] &+= 1 }
        for _ in 0..<2 { keep(table[number % families + 1]!.withUnsafeBytes { [UInt8]($0) }) }
      })
  }

  /// Unpacks one packed family and packs another.
  static func packedPart() -> Part {
    let world = World(open: 1)
    for _ in 0..<10 * families { world.approve() }
    var number: UInt32 = 0
    let command = CommandID(high: .max, low: 0)
    let bytes = [UInt8](repeating: 7, count: 1_000)
    return Part(
      name: "open a family, and pack another one", referenceName: "2 copies of 1000 bytes",
      run: {
        number = number % UInt32(families) + 1
        keep(
          world.relay.needsStoredResult(
            of: command, by: DeviceID(1), in: FamilyID(UInt64(number))))
      },
      reference: { for _ in 0..<2 { keep(bytes.withUnsafeBytes { [UInt8]($0) }) } })
  }
}
