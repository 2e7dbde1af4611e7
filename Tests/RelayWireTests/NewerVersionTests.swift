import FamilyCore
import FamilyModel
import Testing

@testable import RelayWire

/// The encoder of a later version of the protocol, beside today's decoder.
private struct LaterEncoder {
  /// The event with this field as its body.
  func event(_ event: Event, field: UInt64, _ value: [UInt8]) -> [UInt8] {
    var bare = event
    bare.body = .opaque(OpaqueBody(kind: 1, bytes: []))
    return Wire.encode(bare.wire) + self.field(field, value)
  }

  /// A length-delimited field.
  func field(_ number: UInt64, _ value: [UInt8]) -> [UInt8] {
    FrameWriter.bytes(capacity: value.count + 16) { $0.bytes(number, value, always: true) }
  }

  /// A varint field.
  func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
    FrameWriter.bytes(capacity: 32) { $0.numberAlways(field, value) }
  }
}

@Suite struct NewerVersionTests {
  private let later = LaterEncoder()
  private static let device = DeviceAddress(family: FamilyID(7), device: DeviceID(3))
  private static let id = CommandID(high: 1, low: 2)

  private func event(_ seq: UInt64, _ body: Event.Body = .beat) -> Event {
    Event(
      seq: seq, previous: seq - 1, audience: .family, command: Self.id, device: DeviceID(3),
      at: Instant(milliseconds: 77), body: body,
      hash: ChainHash(bytes: Array(repeating: 9, count: 32))!)
  }

  private func decode(_ bytes: [UInt8]) throws -> ReplyEnvelope {
    try bytes.withUnsafeBytes { bytes throws(Problem) in try ReplyEnvelope.decode(bytes) }
  }

  /// An event with a role that no version knows.
  private var unreadable: [UInt8] {
    let person = Person(id: PersonID(1), role: .organizer, displayName: "Rosa")
    var roster = Roster(persons: [person], devices: []).wire
    roster.persons[0].role = 9
    return later.event(event(2), field: 10, Wire.encode(roster))
  }

  @Test(
    "O5: an event with an unknown field as its body keeps that field's bytes",
    arguments: [300, 999])
  func unknownBody(field: UInt64) throws {
    let value: [UInt8] = [8, 1, 18, 2, 7, 7]
    let bytes = later.event(event(5), field: field, value)
    let decoded = try Event.decode(bytes)
    #expect(decoded.body == .opaque(OpaqueBody(kind: UInt32(field), bytes: value)))
    #expect(decoded.seq == 5 && decoded.hash == event(5).hash)
    #expect(try Event.decode(decoded.encode()) == decoded)
    let record = DeviceRecord.newer(decoded)
    #expect(try DeviceRecord.decode(key: record.key.bytes, value: record.value) == record)
  }

  @Test("O5: an unknown field beside a known body is ignored", arguments: [101, 199, 5_000])
  func unknownField(field: UInt64) throws {
    let known = event(5)
    #expect(try Event.decode(known.encode() + later.field(field, [1, 2])) == known)
    #expect(try Event.decode(known.encode() + later.number(field, 3)) == known)
  }

  @Test("O5: no event has two unknown bodies, or one that is a number")
  func ambiguous() {
    let one = later.event(event(5), field: 300, [1])
    #expect(throws: Problem.malformed) { try Event.decode(one + later.field(301, [1])) }
    let bare = later.event(event(5), field: 5_000, [])
    #expect(throws: Problem.malformed) { try Event.decode(bare) }
    #expect(throws: Problem.malformed) { try Event.decode(bare + later.number(300, 1)) }
  }

  @Test("O5: a device keeps a known kind with an unknown value, and the relay does not read it")
  func unreadableValue() throws {
    #expect(throws: Problem.malformed) { try Event.decode(unreadable) }
    let kept = try Event.decode(unreadable, keepingUnreadable: true)
    guard case .opaque(let body) = kept.body else { return #expect(Bool(false)) }
    #expect(body.kind == 10 && !body.isStatement && kept.seq == 2)
    #expect(try Event.decode(kept.encode(), keepingUnreadable: true) == kept)
  }

  @Test("O5: a page with unreadable events in its middle has all the others")
  func page() throws {
    var message = PBReply()
    (message.version, message.family, message.device, message.id) = (1, 7, 3, 4)
    message.page = .with {
      $0.events = [
        event(1).encode(), unreadable, later.event(event(3), field: 300, [1]), [0xFF, 1, 2],
        event(5).encode(),
      ].map { .init($0) }
      $0.more = true
    }
    let envelope = try decode(Wire.encode(message))
    guard case .page(.family, let events, true) = envelope.reply else {
      return #expect(Bool(false))
    }
    #expect(events.map(\.seq) == [1, 2, 3, 5])
    #expect(events.map(\.body.isOpaque) == [false, true, true, false])
    #expect(envelope.unreadableEvents == 1)
    #expect(throws: Problem.malformed) {
      for bytes in message.page.events { _ = try Event.decode(Array(bytes)) }
    }
  }

  @Test("O5: a content with an unknown kind alone is newer, and every other content is not")
  func contents() {
    // A field 99 with three bytes, which no version knows.
    let newer: [UInt8] = [154, 6, 3, 1, 2, 3]
    #expect(Content.sealed(newer).isOfNewerKind)
    #expect(Content.sealed(newer).openedIfKnown == .sealed(newer))
    let text = Content.text("a").bytes
    #expect(Content.sealed(newer + text).openedIfKnown == .text("a"))
    // Invalid contents, also with a known kind beside the unknown one.
    let long = Content.text(String(repeating: "a", count: Limits.textBytes + 1)).bytes
    for bytes in [[], [255], [255, 255, 255], newer + [255], newer + long] as [[UInt8]] {
      #expect(Content.sealed(bytes).openedIfKnown == nil)
    }
    for content: Content in [.sealed(newer + text), .text("a"), .erased(newer)] {
      #expect(!content.isOfNewerKind)
    }
  }

  @Test("O5: a broadcast of an unknown kind arrives")
  func broadcast() throws {
    let bytes = Broadcast.encode(event: later.event(event(3), field: 300, [1]))
    guard case .event(let event) = try Broadcast.decode(bytes) else {
      return #expect(Bool(false))
    }
    #expect(event.body.isOpaque && event.seq == 3)
  }

  @Test("O5: the head of an unreadable request names its device, its number and its command")
  func head() throws {
    let request = Request.command(Self.id, .beat, nil)
    var bytes = Envelope(device: Self.device, requestID: 5, request: request).encode()
    bytes[1] = 9
    let head = try #require(bytes.withUnsafeBytes { Envelope.head($0) })
    #expect(head.device == Self.device && head.requestID == 5 && head.commandID == Self.id)
    // Another kind of request, and a command without a number.
    let other =
      later.number(1, 1) + later.number(2, 7) + later.number(3, 3) + later.number(4, 6)
      + later.field(200, [1])
    let ping = try #require(other.withUnsafeBytes { Envelope.head($0) })
    #expect(ping.device == Self.device && ping.requestID == 6 && ping.commandID == nil)
    let unnumbered = Envelope(device: Self.device, requestID: 0, request: request).encode()
    #expect(unnumbered.withUnsafeBytes { Envelope.head($0) }?.commandID == Self.id)
    for broken in [[], [8, 1], Array("GET /".utf8)] as [[UInt8]] {
      #expect(broken.withUnsafeBytes { Envelope.head($0) } == nil)
    }
  }

  @Test("O5: newer and outdated versions are distinct problems")
  func versions() {
    #expect(throws: Never.self) { try Wire.check(version: 2, among: 2...3) }
    #expect(throws: Never.self) { try Wire.check(version: 3, among: 2...3) }
    #expect(throws: Problem.outdatedVersion) { try Wire.check(version: 1, among: 2...3) }
    #expect(throws: Problem.unsupportedVersion) { try Wire.check(version: 4, among: 2...3) }
    #expect(throws: Problem.unsupportedVersion) { try Wire.check(version: 0, among: 2...3) }
  }
}
