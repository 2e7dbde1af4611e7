public import FamilyModel
import Foundation
import SwiftProtobuf

/// A reply with the address and number of its request.
public struct ReplyEnvelope: Hashable, Sendable {
  /// The device that sent the request.
  public var device: DeviceAddress
  /// The number of the request; 0 in replies that answer no numbered request.
  public var requestID: UInt64
  /// The reply itself.
  public var reply: Reply
  /// With `attached`: proves later that the device's key is enrolled in the family. Opaque to
  /// devices; otherwise empty.
  public var pass: [UInt8] = []
  /// With `attached`: where the relay publishes to the key of the connection.
  public var inbox: Inbox?
  /// The events of a page that could not be decoded and were left out.
  public private(set) var unreadableEvents = 0

  /// Creates the reply to the request `requestID` of `device`.
  public init(device: DeviceAddress, requestID: UInt64, reply: Reply) {
    self.device = device
    self.requestID = requestID
    self.reply = reply
  }

  /// Encodes the reply as the body frame of a message.
  public func encode() -> [UInt8] {
    fastPathBytes ?? libraryBytes
  }

  var libraryBytes: [UInt8] {
    var message = PBReply()
    message.version = Wire.version
    message.family = device.family.rawValue
    message.device = device.device.rawValue
    message.id = requestID
    switch reply {
    case .accepted(let id, let seq):
      message.accepted = .with {
        $0.commandID = Data(id.bytes)
        $0.seq = seq
      }
    case .refused(let id, let problem):
      message.refused = .with {
        $0.commandID = Data(id.bytes)
        $0.problem = problem.wire
      }
    case .attached(let channels, let time):
      message.attached = .with {
        $0.channels = channels.map(\.wire)
        $0.at = time.milliseconds
      }
      message.pass = Data(pass)
      if let inbox { message.inbox = Data(inbox.bytes) }
    case .page(let audience, let events, let more):
      message.page = .with {
        $0.audience = audience.rawValue
        $0.events = events.map { Data($0.encode()) }
        $0.more = more
      }
    case .pong: message.pong = PBEmpty()
    case .joined(let device): message.joined = device.rawValue
    case .evaluated(let evaluation):
      message.evaluated = .with {
        $0.element = Data(evaluation.element)
        $0.proof = Data(evaluation.proof)
        $0.relayKey = Data(evaluation.relayKey)
      }
    case .failed(let problem): message.failed = problem.wire
    }
    return Wire.encode(message)
  }

  /// Adds the inbox to an encoded `attached` without one. The inbox is the last field, so that the
  /// relay adds it after the rest is encoded.
  public static func append(_ inbox: Inbox, to bytes: inout [UInt8]) {
    // Field 102, a value with a length.
    bytes += [0xB2, 0x06, UInt8(Inbox.byteCount)]
    bytes += inbox.bytes
  }

  /// Decodes a body frame. Contents stay sealed.
  ///
  /// - Throws: `unsupportedVersion`, `malformed`, `tooLarge` or `unknownRequest`.
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> ReplyEnvelope {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    if let envelope = ReplyEnvelope(fastPath: bytes) { return envelope }
    return try decode(byLibrary: bytes)
  }

  static func decode(byLibrary bytes: UnsafeRawBufferPointer) throws(Problem) -> ReplyEnvelope {
    let message = try Wire.parse(PBReply.self, bytes)
    try Wire.check(version: message.version)
    var envelope = ReplyEnvelope(
      device: DeviceAddress(family: FamilyID(message.family), device: DeviceID(message.device)),
      requestID: message.id, reply: try reply(message))
    if case .attached = envelope.reply {
      envelope.pass = try Wire.pass(message.pass)
      if !message.inbox.isEmpty {
        envelope.inbox = Inbox(
          bytes: try Wire.exactly(Inbox.byteCount, message.inbox))
      }
    }
    if case .page(_, let events, _) = envelope.reply {
      envelope.unreadableEvents = message.page.events.count - events.count
    }
    return envelope
  }

  private static func reply(_ message: PBReply) throws(Problem) -> Reply {
    switch message.body {
    case .accepted(let accepted):
      return .accepted(try Wire.id(accepted.commandID), seq: accepted.seq)
    case .refused(let refused):
      return .refused(try Wire.id(refused.commandID), try Problem(refused.problem))
    case .attached(let attached):
      return .attached(
        try Wire.map(attached.channels, limit: 1 + 2 * Limits.persons) { channel throws(Problem) in
          try Channel(channel)
        }, at: try Wire.time(attached.at))
    case .page(let page):
      return .page(
        Audience(rawValue: page.audience), try events(of: page), more: page.more)
    case .pong: return .pong
    case .joined(let device): return .joined(DeviceID(device))
    case .evaluated(let evaluated):
      return .evaluated(
        PasscodeEvaluation(
          element: try Wire.exactly(PasscodeEvaluation.elementBytes, evaluated.element),
          proof: try Wire.exactly(PasscodeEvaluation.proofBytes, evaluated.proof),
          relayKey: try Wire.exactly(PasscodeEvaluation.elementBytes, evaluated.relayKey)))
    case .failed(let problem): return .failed(try Problem(problem))
    case nil: throw .malformed
    }
  }

  /// The events of a page. One that cannot be decoded at all is left out: the others still arrive.
  private static func events(of page: PBPage) throws(Problem) -> [Event] {
    guard page.events.count <= Limits.pageEvents else { throw .tooLarge }
    return page.events.compactMap { try? Event.decode([UInt8]($0), keepingUnreadable: true) }
  }
}

extension Problem {
  var wire: PBProblem {
    .with {
      $0.code = UInt32(code)
      $0.retryAfter = UInt32(clamping: retryAfter.count)
      $0.relayTime = relayTime?.milliseconds ?? 0
    }
  }

  init(_ wire: PBProblem) throws(Problem) {
    let code = try Wire.require(UInt16(exactly: wire.code))
    let relayTime = wire.relayTime == 0 ? nil : try Wire.time(wire.relayTime)
    self.init(
      code: code, retryAfter: .milliseconds(wire.retryAfter), relayTime: relayTime)
  }
}

extension Receipt {
  var wire: PBReceipt {
    .with {
      $0.delivered = delivered
      $0.read = read
    }
  }

  init(_ wire: PBReceipt) { self.init(delivered: wire.delivered, read: wire.read) }
}

extension Channel {
  var wire: PBChannel {
    .with {
      $0.audience = audience.rawValue
      $0.generation = generation
      $0.head = head
      $0.topic = Data(topic)
      $0.key = Data(key)
      $0.receipt = receipt.wire
      $0.hash = hash.wire
    }
  }

  init(_ wire: PBChannel) throws(Problem) {
    guard wire.topic.count <= 64, wire.key.count <= 64 else { throw .malformed }
    self.init(
      audience: Audience(rawValue: wire.audience), generation: wire.generation, head: wire.head,
      hash: try ChainHash(wire: wire.hash), receipt: Receipt(wire.receipt))
    topic = [UInt8](wire.topic)
    key = [UInt8](wire.key)
  }
}

extension Broadcast {
  /// Encodes the broadcast before its encryption under the channel's key.
  public func encode() -> [UInt8] {
    if case .event(let event) = self { return Self.encode(event: event.encode()) }
    return fastPathBytes ?? libraryBytes
  }

  var libraryBytes: [UInt8] {
    var message = PBBroadcast()
    message.version = Wire.version
    switch self {
    case .event(let event): message.event = Data(event.encode())
    case .head(let audience, let seq):
      message.head = .with {
        $0.audience = audience.rawValue
        $0.seq = seq
      }
    case .receipt(let audience, let receipt):
      message.receipt = .with {
        $0.audience = audience.rawValue
        $0.receipt = receipt.wire
      }
    }
    return Wire.encode(message)
  }

  /// Encodes the broadcast of an event from the event's own encoding.
  public static func encode(event bytes: [UInt8]) -> [UInt8] {
    fastPathBytes(event: bytes)
  }

  /// Decodes a decrypted broadcast. Contents stay sealed.
  ///
  /// - Throws: `unsupportedVersion`, `malformed` or `tooLarge`.
  public static func decode(_ bytes: [UInt8]) throws(Problem) -> Broadcast {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    if let event = bytes.withUnsafeBytes({ Broadcast(fastPath: $0) }) { return event }
    return try decode(byLibrary: bytes)
  }

  static func decode(byLibrary bytes: [UInt8]) throws(Problem) -> Broadcast {
    let message = try Wire.parse(PBBroadcast.self, bytes)
    try Wire.check(version: message.version)
    switch message.body {
    case .event(let bytes):
      return .event(try Event.decode([UInt8](bytes), keepingUnreadable: true))
    case .head(let head): return .head(Audience(rawValue: head.audience), seq: head.seq)
    case .receipt(let receipt):
      return .receipt(Audience(rawValue: receipt.audience), Receipt(receipt.receipt))
    case nil: throw .malformed
    }
  }
}
