import Credentials
import FamilyModel
import Foundation
import RelayWire
import Synchronization
import SystemClock
import ZeroMQ

/// The measured relay's endpoints and the keys of its clients.
struct RelayAddress: Sendable {
  var requests: String
  var broadcasts: String
  /// The relay's CURVE key; `nil` without encryption.
  var relayKey: CurvePublicKey?
  var administrator: CurveKeyPair
  var child: CurveKeyPair
  var guardian: CurveKeyPair

  static let guardianDevice = DeviceID(1)
  static let childDevice = DeviceID(2)
  static let child = PersonID(2)

  var roster: Roster {
    Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: Self.child, role: .child, displayName: "Emily"),
      ],
      devices: [
        Device(id: Self.guardianDevice, person: PersonID(1), publicKey: guardian.publicKey.bytes),
        Device(id: Self.childDevice, person: Self.child, publicKey: child.publicKey.bytes),
      ])
  }
}

/// The devices of one role in every family, on one connection and one thread.
///
/// They speak the protocol and open sealed broadcasts, but run no machines. They share the
/// processors with the measured relay, so they patch prepared request bytes and read broadcasts in
/// place.
struct Devices: ~Copyable {
  /// The requests of an approval.
  enum Kind { case ask, answer, acknowledge }

  static let timeout = Nanoseconds.seconds(60)

  private let context: Context
  /// The most families whose first request is in flight. The relay refuses those above its bounds with
  /// a retry time.
  static let requestsInFlight: UInt64 = 1_000
  /// The send high-water mark for questions. A question beyond it is retried later.
  private static let waitingQuestions: Int32 = 4_096

  let requests: Socket
  private let questions: Socket
  let broadcasts: Socket
  let device: DeviceID
  private let isPlain: Bool
  private var message = Multipart(maximumParts: 4)
  /// Families by the first eight bytes of their channels' topics, which are unique.
  private var listeners: [UInt64: (family: UInt64, topic: [UInt8], key: [UInt8])] = [:]
  private var hasReceivedBroadcast = false
  private var poller = Poller()
  private var templates: [Kind: RequestTemplates] = [:]
  private var nextRequest: UInt64 = 0
  private var ids = IDSource(seed: .random(in: .min ... .max))

  init(_ device: DeviceID, _ keys: CurveKeyPair, at relay: RelayAddress) throws {
    let context = try Context()
    var options = SocketOptions()
    options.security = relay.relayKey.map { .client(keys, server: $0) }
    options.sendHighWaterMark = 200_000
    options.receiveHighWaterMark = 200_000
    let requests = try Socket(.dealer, in: context, options: options)
    let broadcasts = try Socket(.sub, in: context, options: options)
    options.sendHighWaterMark = Self.waitingQuestions
    let questions = try Socket(.dealer, in: context, options: options)
    try requests.connect(relay.requests)
    try questions.connect(relay.requests)
    try broadcasts.connect(relay.broadcasts)
    self.requests = requests
    self.questions = questions
    self.broadcasts = broadcasts
    self.context = context
    self.device = device
    isPlain = relay.relayKey == nil
    for kind in [Kind.ask, .answer, .acknowledge] { templates[kind] = template(kind) }
    poller.watch(self.requests)
    poller.watch(self.questions)
    poller.watch(self.broadcasts)
  }

  mutating func newID() -> ID128 { ids.id(now: .now) }

  /// A command with a signature of the real size, which the relay carries without verifying it.
  mutating func signed(_ command: Command, id: CommandID? = nil, by signer: DeviceID? = nil)
    -> Request
  {
    .command(
      id ?? newID(), command,
      Signature(
        signer: signer ?? device, basedOnSeq: 1, bytes: Array(repeating: 7, count: 64)))
  }

  /// Sends a request that the relay answers with a reply.
  mutating func send(_ request: Request, in family: UInt64, from device: DeviceID? = nil) throws {
    let bytes = encoded(request, in: family, from: device)
    guard try Self.offer(bytes, on: requests) else { throw RelayUnavailable() }
  }

  /// Sends a request of the kind.
  ///
  /// Questions use a separate connection. In this bench one connection carries the devices of all
  /// families, so acknowledgements must not queue behind thousands of new questions.
  ///
  /// - Returns: `false` for a question beyond the send high-water mark.
  mutating func send(_ kind: Kind, _ numbers: RequestTemplates.Numbers) throws -> Bool {
    let isQuestion = kind == .ask
    return try templates[kind]!.withBytes(numbers) { bytes in
      if isQuestion { return try Self.offer(bytes, on: questions) }
      guard try Self.offer(bytes, on: requests) else { throw RelayUnavailable() }
      return true
    }
  }

  private func template(_ kind: Kind) -> RequestTemplates {
    let device = device
    let signature = Signature(signer: device, basedOnSeq: 1, bytes: Array(repeating: 7, count: 64))
    return RequestTemplates { numbers in
      let request: Request
      switch kind {
      case .ask:
        let header = QuestionHeader(
          id: numbers.question, child: RelayAddress.child, app: AppID("example.landmarks"),
          subjects: numbers.question.bytes,
          choices: [
            ChoiceHeader(id: "approve", answer: .approval),
            ChoiceHeader(id: "decline", answer: .denial),
          ], expiration: nil)
        // The size of a question with a name and two choices: about 300 bytes.
        let content = Content.sealed(Array(repeating: 7, count: 230))
        request = .command(numbers.command, .ask(header, content), signature)
      case .answer:
        request = .command(
          numbers.command, .answer(numbers.question, choice: "approve"), signature)
      case .acknowledge:
        request = .acknowledge([
          Cursor(.conversation(RelayAddress.child), delivered: numbers.seq)
        ])
      }
      return Envelope(
        device: DeviceAddress(family: FamilyID(numbers.family), device: device), requestID: 0,
        request: request
      ).encode()
    }
  }

  private mutating func encoded(_ request: Request, in family: UInt64, from device: DeviceID?)
    -> [UInt8]
  {
    nextRequest += 1
    let envelope = Envelope(
      device: DeviceAddress(family: FamilyID(family), device: device ?? self.device),
      requestID: nextRequest, request: request)
    return envelope.encode()
  }

  private static func offer(_ bytes: [UInt8], on socket: borrowing Socket) throws -> Bool {
    // The socket accepts a message with its first part or not at all.
    guard try socket.sendPart([], more: true) == .sent else { return false }
    guard try socket.sendPart(bytes, more: false) == .sent else { throw RelayUnavailable() }
    return true
  }

  /// Attaches to families 1 to `families` and subscribes to the inbox. Returns when the relay has
  /// approved the subscription.
  mutating func attach(families: UInt64) throws {
    var (sent, attached): (UInt64, UInt64) = (0, 0)
    var inbox: Inbox?
    // The approval of the subscription causes a broadcast of heads.
    while attached < families || !hasReceivedBroadcast {
      while sent < families, sent < attached + Self.requestsInFlight {
        sent += 1
        try send(.attach([Cursor(.family, delivered: 1)]), in: sent)
      }
      guard try poller.wait(within: Self.timeout) > 0 else { throw RelayUnavailable() }
      while let reply = try nextReply() {
        guard case .attached(let channels, _) = reply.reply,
          let channel = channels.first(where: { $0.audience == .conversation(RelayAddress.child) })
        else { throw UnexpectedReply(reply: reply.reply) }
        attached += 1
        listeners[channel.topic.withUnsafeBytes(Self.name)] = (
          reply.device.family.rawValue, channel.topic, channel.key
        )
        if inbox == nil, let first = reply.inbox {
          inbox = first
          try broadcasts.subscribe(first.subscription)
        }
      }
      while try nextBroadcast({ _ in () }) != nil {}
    }
  }

  mutating func nextReply() throws -> ReplyEnvelope? {
    if try requests.receive(into: &message) != .message {
      guard try questions.receive(into: &message) == .message else { return nil }
    }
    return try message.withBytes(1) { bytes throws(Problem) in try ReplyEnvelope.decode(bytes) }
  }

  /// The next event on any channel, with its family. Skips other broadcasts.
  mutating func nextEvent() throws -> (family: UInt64, BroadcastPeek)? {
    while let (family, event) = try nextBroadcast({ BroadcastPeek(broadcast: $0) }) {
      if let event { return (family, event) }
    }
    return nil
  }

  private mutating func nextBroadcast<R>(_ read: (UnsafeRawBufferPointer) throws -> R) throws
    -> (family: UInt64, R)?
  {
    while try broadcasts.receive(into: &message) == .message {
      hasReceivedBroadcast = true
      let (isPlain, listeners) = (isPlain, listeners)
      let result: (UInt64, R)? = try message.withBytes(1) { frame in
        let length = Int(frame.first ?? 0)
        guard length > 0, frame.count > length else { throw RelayUnavailable() }
        // The inbox receives broadcasts of a family before the reply to its attachment is read.
        guard
          let (family, topic, key) = listeners[
            Self.name(UnsafeRawBufferPointer(rebasing: frame[1...length]))]
        else { return nil }
        // The inbox also receives the other audiences' broadcasts.
        guard frame[1...length].elementsEqual(topic) else { return nil }
        let sealed = UnsafeRawBufferPointer(rebasing: frame[(length + 1)...])
        if isPlain { return (family, try read(sealed)) }
        let opened = ChannelCipher.open([UInt8](sealed), topic: topic, key: key)
        guard let opened else { throw RelayUnavailable() }
        return (family, try opened.withUnsafeBytes(read))
      }
      if let result { return result }
    }
    return nil
  }

  private static func name(_ topic: UnsafeRawBufferPointer) -> UInt64 {
    topic.count < 8 ? 0 : topic.loadUnaligned(as: UInt64.self)
  }

  /// Waits until any socket is readable.
  mutating func wait(within timeout: Nanoseconds) throws {
    _ = try poller.wait(within: timeout)
  }
}

/// The relay does not answer.
struct RelayUnavailable: Error, CustomStringConvertible {
  let description = "The relay has ended or does not answer: see its message above."
}
/// The relay sent a reply that the bench does not expect, usually a refusal.
struct UnexpectedReply: Error, CustomStringConvertible {
  let reply: Reply
  var description: String { "The relay sent an unexpected reply: \(reply)" }
}
