import FamilyModel
import History
import ProcessCluster

/// The binary form of the facts that a worker of the crowd records.
///
/// A record is the length of the rest, the device, the time and the fact, mostly as varints.
enum FactCoding {
  /// The kinds of facts, as their first byte.
  private enum Kind: UInt8 {
    case issued = 1
    case acknowledged, refused, received, applied, decided, restored
    case registered, sent, handled, consumed, appLostState
  }

  /// Appends the record of a fact. Facts of other kinds than a worker's have none.
  ///
  /// - Parameter at: Nanoseconds of the machine's monotonic clock.
  static func append(_ fact: Fact, at: UInt64, to bytes: inout [UInt8]) {
    guard let (device, kind) = subject(of: fact) else { return }
    var body: [UInt8] = []
    Varint.append(device.family.rawValue, to: &body)
    Varint.append(UInt64(device.device.rawValue), to: &body)
    Varint.append(at, to: &body)
    body.append(kind.rawValue)
    appendContent(of: fact, to: &body)
    Varint.append(UInt64(body.count), to: &bytes)
    bytes += body
  }

  private static func subject(of fact: Fact) -> (DeviceAddress, Kind)? {
    switch fact {
    case .issued(let device, _, _): (device, .issued)
    case .acknowledged(let device, _, _): (device, .acknowledged)
    case .refused(let device, _, _): (device, .refused)
    case .received(let device, _, _): (device, .received)
    case .applied(let device, _, _, _): (device, .applied)
    case .decided(let device, _, _): (device, .decided)
    case .restored(let device, _, _, _): (device, .restored)
    case .registered(let app): (app.device, .registered)
    case .sent(let app, _): (app.device, .sent)
    case .handled(let app, _, _): (app.device, .handled)
    case .consumed(let app, _): (app.device, .consumed)
    case .appLostState(let app): (app.device, .appLostState)
    default: nil
    }
  }

  private static func appendContent(of fact: Fact, to body: inout [UInt8]) {
    switch fact {
    case .issued(_, let command, let entry):
      body += command.bytes
      Varint.append(entry.position ?? 0, to: &body)
      body += entry.question?.bytes ?? []
    case .acknowledged(_, let command, let seq):
      body += command.bytes
      Varint.append(seq, to: &body)
    case .refused(_, let command, let problem):
      body += command.bytes
      Varint.append(UInt64(problem.code), to: &body)
    case .received(_, let audience, let seq):
      Varint.append(audience.rawValue, to: &body)
      Varint.append(seq, to: &body)
    case .applied(_, let audience, let seq, let command):
      Varint.append(audience.rawValue, to: &body)
      Varint.append(seq, to: &body)
      body += command?.bytes ?? []
    case .decided(_, let question, let choice), .handled(_, let question, let choice):
      body += question.bytes + Array(choice.utf8)
    case .restored(_, let audience, let seqs, let cursor):
      Varint.append(audience.rawValue, to: &body)
      Varint.append(cursor, to: &body)
      var last: UInt64 = 0
      for seq in seqs {
        Varint.append(seq - last, to: &body)
        last = seq
      }
    case .sent(_, let question), .consumed(_, let question): body += question.bytes
    default: break
    }
  }

  /// Reads the family and the end of the record at a position.
  ///
  /// - Returns: `nil` if the bytes end within the record.
  static func peek(_ bytes: UnsafeRawBufferPointer, at position: Int) -> (
    family: FamilyID, end: Int
  )? {
    var position = position
    guard let length = Varint.read(bytes, at: &position), length > 0,
      length <= UInt64(bytes.count - position)
    else { return nil }
    let end = position + Int(length)
    guard let family = Varint.read(bytes, at: &position) else { return nil }
    return (FamilyID(family), end)
  }

  /// Reads the record at a position that ``peek(_:at:)`` accepts.
  static func read(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (fact: Fact, at: UInt64)? {
    var reader = Reader(bytes, start)
    guard let length = reader.number() else { return nil }
    reader.end = reader.position + Int(length)
    guard let family = reader.number(), let number = reader.number(), let at = reader.number(),
      let kind = reader.byte().flatMap(Kind.init)
    else { return nil }
    let device = DeviceAddress(
      family: FamilyID(family), device: DeviceID(UInt32(truncatingIfNeeded: number)))
    return fact(kind, device, &reader).map { ($0, at) }
  }

  private static func fact(_ kind: Kind, _ device: DeviceAddress, _ reader: inout Reader) -> Fact? {
    let app = AppAddress(device, AppID(RunningCluster.app))
    switch kind {
    case .issued:
      guard let command = reader.id(), let position = reader.number() else { return nil }
      return .issued(device, command, OutboxEntry(position: position, question: reader.id()))
    case .acknowledged:
      guard let command = reader.id(), let seq = reader.number() else { return nil }
      return .acknowledged(device, command, seq: seq)
    case .refused:
      guard let command = reader.id(), let code = reader.number() else { return nil }
      return .refused(device, command, Problem(code: UInt16(truncatingIfNeeded: code)))
    case .received:
      guard let audience = reader.audience(), let seq = reader.number() else { return nil }
      return .received(device, audience, seq: seq)
    case .applied:
      guard let audience = reader.audience(), let seq = reader.number() else { return nil }
      return .applied(device, audience, seq: seq, reader.id())
    case .decided: return reader.id().map { .decided(device, $0, choice: reader.text()) }
    case .handled: return reader.id().map { .handled(app, $0, choice: reader.text()) }
    case .restored:
      guard let audience = reader.audience(), let cursor = reader.number() else { return nil }
      var seqs: [UInt64] = []
      while reader.position < reader.end, let step = reader.number() {
        seqs.append((seqs.last ?? 0) + step)
      }
      return .restored(device, audience, seqs, cursor: cursor)
    case .registered: return .registered(app)
    case .sent: return reader.id().map { .sent(app, $0) }
    case .consumed: return reader.id().map { .consumed(app, $0) }
    case .appLostState: return .appLostState(app)
    }
  }

  /// A position in a record.
  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position: Int
    var end: Int

    init(_ bytes: UnsafeRawBufferPointer, _ start: Int) {
      (self.bytes, position, end) = (bytes, start, bytes.count)
    }

    mutating func number() -> UInt64? { Varint.read(bytes, at: &position) }

    mutating func audience() -> Audience? { number().map { Audience(rawValue: $0) } }

    mutating func byte() -> UInt8? {
      guard position < end else { return nil }
      defer { position += 1 }
      return bytes[position]
    }

    mutating func id() -> ID128? {
      guard position + 16 <= end else { return nil }
      defer { position += 16 }
      return ID128(bytes: bytes[position..<position + 16])
    }

    mutating func text() -> String {
      defer { position = end }
      return String(decoding: bytes[position..<end], as: UTF8.self)
    }
  }
}
