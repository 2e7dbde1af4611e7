import FamilyModel
import Foundation
import RelayRuntime
import RelayWire
import Synchronization
import ZeroMQ

/// How to reach the relay that is measured.
struct RelayAddress: Sendable {
  var requests: String
  var broadcasts: String
  /// `nil`: nothing is encrypted.
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

/// The devices of one person of every family, on one connection and one thread: they speak the protocol,
/// encode and decode, seal and open, and have no machines. What is measured is the relay.
struct Devices: ~Copyable {
  static let timeout = 60_000

  private let context: Context
  /// Questions that wait for the relay; those that find no room are asked again later.
  private static let waitingQuestions: Int32 = 4_096

  let requests: Socket
  private let questions: Socket
  let broadcasts: Socket
  let device: DeviceID
  private let isPlain: Bool
  private var message = Multipart(maximumParts: 4)
  private var listeners: [[UInt8]: (family: UInt64, key: [UInt8])] = [:]
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
  }

  mutating func newID() -> ID128 { ids.id(now: .now) }

  /// A command with as many bytes of a signature as a signed one has: the relay carries them.
  mutating func signed(_ command: Command, id: CommandID? = nil, by signer: DeviceID? = nil)
    -> Request
  {
    .command(
      id ?? newID(), command,
      Signature(
        signer: signer ?? device, seen: 1, bytes: Array(repeating: 7, count: 64)))
  }

  /// Sends a request; one that the device hears of by its event needs no reply.
  mutating func send(
    _ request: Request, in family: UInt64, from device: DeviceID? = nil, isHeard: Bool = false
  ) throws {
    let bytes = encoded(request, in: family, from: device, isHeard: isHeard)
    guard try Self.offer(bytes, on: requests) else { throw RelayGone() }
  }

  /// Sends a question on a connection of its own; `false`: so many wait there that it takes no more.
  ///
  /// In a family the child who waits is not the device that has something to acknowledge. Here one
  /// connection has the devices of all families, and what ends an approval must not stand behind
  /// thousands of new ones.
  mutating func offerQuestion(_ request: Request, in family: UInt64) throws -> Bool {
    let bytes = encoded(request, in: family, from: nil, isHeard: true)
    return try Self.offer(bytes, on: questions)
  }

  private mutating func encoded(
    _ request: Request, in family: UInt64, from device: DeviceID?, isHeard: Bool
  ) -> [UInt8] {
    nextRequest += 1
    let envelope = Envelope(
      device: DeviceAddress(family: FamilyID(family), device: device ?? self.device),
      requestID: isHeard ? 0 : nextRequest,
      request: request)
    return envelope.encode()
  }

  private static func offer(_ bytes: [UInt8], on socket: borrowing Socket) throws -> Bool {
    // A message is taken with its first part, or not at all.
    guard try socket.sendPart([], more: true) == .sent else { return false }
    guard try socket.sendPart(bytes, more: false) == .sent else { throw RelayGone() }
    return true
  }

  /// Listens to the conversations of so many families; returns when the relay has approved all.
  mutating func attach(families: UInt64) throws {
    var sent: UInt64 = 0
    var attached: UInt64 = 0
    while attached < families {
      while sent < families, sent - attached < 1_000 {
        sent += 1
        try send(.attach([Cursor(.family, delivered: 1)]), in: sent)
      }
      guard try requests.waitUntilReadable(milliseconds: Self.timeout) else { throw RelayGone() }
      while let reply = try nextReply() {
        guard case .attached(let channels) = reply.reply,
          let channel = channels.first(where: { $0.audience == .conversation(RelayAddress.child) })
        else { throw Refused(reply: reply.reply) }
        listeners[channel.topic] = (reply.device.family.rawValue, channel.key)
        try broadcasts.subscribe(channel.topic)
        attached += 1
      }
    }
    // Each approval is followed by a broadcast of the head.
    var heads: UInt64 = 0
    while heads < families {
      guard try broadcasts.waitUntilReadable(milliseconds: Self.timeout) else { throw RelayGone() }
      while let (_, broadcast) = try nextBroadcast() {
        if case .head = broadcast { heads += 1 }
      }
    }
  }

  mutating func nextReply() throws -> ReplyEnvelope? {
    if try requests.receive(into: &message) != .message {
      guard try questions.receive(into: &message) == .message else { return nil }
    }
    return try message.withBytes(1) { bytes throws(Problem) in try ReplyEnvelope.decode(bytes) }
  }

  mutating func nextBroadcast() throws -> (family: UInt64, Broadcast)? {
    guard try broadcasts.receive(into: &message) == .message else { return nil }
    let topic = message.bytes(0)
    guard let (family, key) = listeners[topic] else { throw RelayGone() }
    let sealed = message.bytes(1)
    guard let bytes = isPlain ? sealed : ChannelCipher.open(sealed, topic: topic, key: key) else {
      throw RelayGone()
    }
    return (family, try Broadcast.decode(bytes))
  }

  /// Waits for something on any socket.
  func wait(milliseconds: Int) throws {
    var poller = Poller()
    poller.watch(requests)
    poller.watch(questions)
    poller.watch(broadcasts)
    _ = try poller.wait(milliseconds: milliseconds)
  }
}

/// The relay does not answer.
struct RelayGone: Error {}
/// The relay refused.
struct Refused: Error { let reply: Reply }
