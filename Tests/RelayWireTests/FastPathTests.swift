import FamilyModel
import Testing

@testable import RelayWire

/// The fast path and swift-protobuf agree on every message that the fast path accepts.
@Suite struct FastPathTests {
  private var source = IDSource(seed: 20_261_121)

  @Test("the fast path writes the same bytes as swift-protobuf")
  mutating func writes() throws {
    for _ in 0..<1_000 {
      let envelope = envelope()
      if let bytes = envelope.fastPathBytes { #expect(bytes == envelope.libraryBytes) }
      let event = event()
      #expect(try #require(event.fastPathBytes) == event.libraryBytes)
      let broadcast = Broadcast.event(event)
      #expect(broadcast.encode() == broadcast.libraryBytes)
      let receipt = Broadcast.receipt(
        event.audience, Receipt(delivered: number(), read: number()))
      #expect(try #require(receipt.fastPathBytes) == receipt.libraryBytes)
      let reply = ReplyEnvelope(
        device: envelope.device, requestID: number(), reply: .accepted(id(), seq: 1 + number()))
      #expect(try #require(reply.fastPathBytes) == reply.libraryBytes)
    }
  }

  @Test("the fast path reads the same values as swift-protobuf, also from damaged bytes")
  mutating func reads() throws {
    var whole = 0
    var damaged = 0
    for number in 0..<6_000 {
      var request = envelope().encode()
      var event = event().encode()
      var broadcast = Broadcast.encode(event: event)
      var reply = ReplyEnvelope(
        device: DeviceAddress(family: FamilyID(3), device: DeviceID(4)), requestID: 5,
        reply: .accepted(id(), seq: 9)
      ).encode()
      if number % 10 != 0 {
        damage(&request)
        damage(&event)
        damage(&broadcast)
        damage(&reply)
      }
      let fast = request.withUnsafeBytes { Envelope(fastPath: $0) }
      if let fast {
        if number % 10 == 0 { whole += 1 } else { damaged += 1 }
        #expect(try request.withUnsafeBytes { try Envelope.decode(byLibrary: $0) } == fast)
      }
      if let fast = event.withUnsafeBytes({ Event(fastPath: $0) }) {
        #expect(try Event.decode(byLibrary: event) == fast)
      }
      if let fast = broadcast.withUnsafeBytes({ Broadcast(fastPath: $0) }) {
        #expect(try Broadcast.decode(byLibrary: broadcast) == fast)
      }
      if let fast = reply.withUnsafeBytes({ ReplyEnvelope(fastPath: $0) }) {
        #expect(try reply.withUnsafeBytes { try ReplyEnvelope.decode(byLibrary: $0) } == fast)
      }
    }
    #expect(whole > 500)
    #expect(damaged > 200)
  }

  @Test("the fast path leaves unknown and repeated fields to swift-protobuf")
  mutating func unusual() throws {
    let envelope = Envelope(
      device: DeviceAddress(family: FamilyID(3), device: DeviceID(4)), requestID: 5,
      request: .command(id(), .answer(id(), choice: "approve"), nil))
    for more in [[0x78, 1], [0x10, 9], [0xF8, 0x07, 1], [0x30, 1]] as [[UInt8]] {
      let bytes = envelope.encode() + more
      #expect(bytes.withUnsafeBytes { Envelope(fastPath: $0) } == nil)
    }
  }

  @Test("both decoders reject a signature of another size", arguments: [0, 1, 63, 64, 65, 128])
  func signatures(count: Int) throws {
    let value = [UInt8](repeating: 7, count: count)
    let bytes = FrameWriter.bytes(capacity: 200) { out in
      out.number(1, 3)
      out.bytes(3, value, always: true)
    }
    var wire = Signature(signer: DeviceID(3), basedOnSeq: 0, bytes: Array(repeating: 7, count: 64))
      .wire
    wire.value = .init(value)
    let fast = bytes.withUnsafeBytes { Signature(fastPath: $0) }
    #expect(fast == (try? Signature(wire)))
    #expect((fast != nil) == (count == 64))
  }

  @Test(
    "the fast path leaves other forms of a header to swift-protobuf, which reads the same header")
  mutating func otherForms() throws {
    let header = QuestionHeader(
      id: id(), child: PersonID(2), app: AppID("a"), subjects: [1, 2],
      choices: [ChoiceHeader(id: "é", answer: .denial)], expiration: nil)
    let parts: [[UInt8]] = [
      [0x1A, 1, 97], [0x22, 2, 1, 2], [0x2A, 6, 0x0A, 2, 0xC3, 0xA9, 0x18, 2],
    ]
    #expect(header.parts == parts.flatMap { $0 })
    #expect(header.app == AppID("a") && header.subjects == [1, 2])
    #expect(header.choices == [ChoiceHeader(id: "é", answer: .denial)])
    #expect(header.choice("é") == header.choices[0] && header.choice("e") == nil)
    func event(_ fields: [[UInt8]]) -> [UInt8] {
      FrameWriter.bytes(capacity: 300) { out in
        out.number(1, 1)
        out.id(4, header.id)
        out.message(13) { out in
          out.message(1) { out in
            out.id(1, header.id)
            out.number(2, 2)
            fields.flatMap { $0 }.withUnsafeBytes { out.raw($0) }
          }
        }
      }
    }
    let plain = event(parts)
    #expect(plain.withUnsafeBytes { Event(fastPath: $0) } != nil)
    for other in [
      // Another order of fields, then a length, a tag and an answer in more bytes than necessary.
      [parts[1], parts[0], parts[2]], [[0x1A, 0x81, 0, 97], parts[1], parts[2]],
      [[0x9A, 0, 1, 97], parts[1], parts[2]],
      [parts[0], parts[1], [0x2A, 7, 0x0A, 2, 0xC3, 0xA9, 0x18, 0x82, 0]],
      // A choice whose answer precedes its id.
      [parts[0], parts[1], [0x2A, 6, 0x18, 2, 0x0A, 2, 0xC3, 0xA9]],
    ] {
      let bytes = event(other)
      #expect(bytes.withUnsafeBytes { Event(fastPath: $0) } == nil)
      #expect(try Event.decode(bytes) == Event.decode(plain))
    }
    // A text that is not UTF-8, and a choice without an answer.
    for bad in [[[0x1A, 1, 0xFF]], [[0x2A, 4, 0x0A, 2, 0xC3, 0xA9]]] as [[[UInt8]]] {
      let bytes = event(bad)
      #expect(bytes.withUnsafeBytes { Event(fastPath: $0) } == nil)
      #expect(throws: Problem.self) { try Event.decode(bytes) }
    }
  }

  private mutating func number() -> UInt64 { source.next() >> (source.next() % 64) }
  private mutating func id() -> ID128 { ID128(high: source.next(), low: number()) }
  private mutating func small(_ limit: UInt64) -> Int { Int(source.next() % (limit + 1)) }
  private mutating func text() -> String {
    String((0..<small(20)).map { _ in ["a", "é", "白", "z"][small(3)] }.joined())
  }
  private mutating func content() -> Content {
    .sealed((0..<[0, 1, 127, 128, 300, 17_000][small(5)]).map { UInt8(truncatingIfNeeded: $0) })
  }
  private mutating func person() -> PersonID { PersonID(UInt32(truncatingIfNeeded: number())) }
  private mutating func choice() -> ChoiceHeader {
    ChoiceHeader(id: text(), answer: small(1) == 0 ? .approval : .denial)
  }
  private mutating func header() -> QuestionHeader {
    QuestionHeader(
      id: id(), child: PersonID(UInt32(truncatingIfNeeded: number())), app: AppID(text()),
      subjects: Array(repeating: 7, count: small(64)),
      choices: (0..<small(4)).map { _ in choice() },
      expiration: small(1) == 0 ? nil : Instant(milliseconds: Int64(bitPattern: number() >> 1)))
  }

  private mutating func signature() -> Signature? {
    guard small(1) == 0 else { return nil }
    let signer = DeviceID(UInt32(truncatingIfNeeded: number()))
    return Signature(signer: signer, basedOnSeq: number(), bytes: Array(repeating: 9, count: 64))
  }

  private mutating func envelope() -> Envelope {
    let request: Request =
      switch small(4) {
      case 0: .command(id(), .ask(header(), content()), signature())
      case 1: .command(id(), .answer(id(), choice: text()), signature())
      case 2: .command(id(), .post(child: person(), content()), signature())
      case 3: .command(id(), .changeContact(child: person(), content()), signature())
      default:
        .acknowledge(
          (0..<small(4)).map { _ in
            Cursor(Audience(rawValue: number()), delivered: number(), read: number())
          })
      }
    return Envelope(
      device: DeviceAddress(
        family: FamilyID(number()), device: DeviceID(UInt32(truncatingIfNeeded: number()))),
      requestID: number(), request: request)
  }

  private mutating func event() -> Event {
    let body: Event.Body =
      switch small(3) {
      case 0: .asked(header(), content())
      case 1: .decided(Decision(question: id(), choice: choice()))
      case 2: .posted(child: person(), content())
      default: .contactChanged(child: person(), content())
      }
    return Event(
      seq: number(), previous: number(), audience: Audience(rawValue: number()), command: id(),
      device: DeviceID(UInt32(truncatingIfNeeded: number())),
      at: Instant(milliseconds: Int64(bitPattern: number() >> 1)), body: body,
      signature: signature())
  }

  private mutating func damage(_ bytes: inout [UInt8]) {
    switch small(2) {
    case 0: bytes.removeLast(small(UInt64(bytes.count)))
    case 1: bytes[small(UInt64(bytes.count - 1))] = UInt8(truncatingIfNeeded: source.next())
    default: bytes.insert(UInt8(small(255)), at: small(UInt64(bytes.count)))
    }
  }
}
