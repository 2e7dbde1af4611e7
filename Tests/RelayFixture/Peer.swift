import Credentials
import FamilyCore
package import FamilyModel
package import RelayWire
package import ZeroMQ

/// A device with blocking sockets, for tests of the relay.
package final class Peer {
  package let address: DeviceAddress
  private let requests: Socket
  private var monitor: Monitor
  private let broadcasts: Socket
  private let isPlain: Bool
  package private(set) var channels: [Audience: Channel] = [:]
  /// The inbox that the relay named last.
  package private(set) var inbox: Inbox?
  private var subscribedInbox: Inbox?
  /// The relay's proof of enrolment from the last attachment, for the next one.
  package var pass: [UInt8] = []
  /// Received broadcasts that no channel key opens.
  package private(set) var unopenedCount = 0
  private var lastID: UInt64 = 0
  /// Whether commands are sent without a signature if they have none.
  package var sendsUnsigned = false

  init(
    _ relay: any RelayUnderTest, _ family: UInt64, _ device: UInt32, _ keys: CurveKeyPair,
    _ kind: SocketKind, receiveQueue: Int32, in context: Context,
    adjust: (inout SocketOptions) -> Void
  ) throws {
    address = DeviceAddress(family: FamilyID(family), device: DeviceID(device))
    isPlain = kind == .req
    var options = SocketOptions()
    options.maximumMessageSize = 8 << 20
    options.sendHighWaterMark = 100_000
    options.receiveHighWaterMark = receiveQueue
    options.security = .client(keys, server: relay.keys.keys.publicKey)
    adjust(&options)
    let requests = try Socket(kind, in: context, options: options)
    let monitor = try Monitor(requests, in: context)
    let broadcasts = try Socket(.sub, in: context, options: options)
    try requests.connect(relay.requests)
    try broadcasts.connect(relay.broadcasts)
    self.requests = requests
    self.monitor = monitor
    self.broadcasts = broadcasts
  }

  /// The failures of the request connection since the last call: failed handshakes, and the delay
  /// after each attempt that found no relay.
  package func takeFailures() throws -> (handshakes: Int, delays: [Nanoseconds]) {
    var failures: (handshakes: Int, delays: [Nanoseconds]) = (0, [])
    var hasMore = true
    while hasMore {
      hasMore = try monitor.drain { event in
        switch event.kind {
        case .handshakeFailed: failures.handshakes += 1
        case .connectRetried(let delay): failures.delays.append(delay)
        default: break
        }
      }
    }
    return failures
  }

  package func sendRaw(_ frames: [[UInt8]]) throws { _ = try requests.send(frames) }

  package func receive(within time: Nanoseconds = patience) throws -> ReplyEnvelope? {
    guard try requests.waitUntilReadable(within: time),
      let message = try requests.receive()
    else { return nil }
    return try message.withBytes(message.count - 1) { bytes throws(Problem) in
      try ReplyEnvelope.decode(bytes)
    }
  }

  /// Sends a request. Adds a signature of the right shape to an unsigned command: the relay checks
  /// only the shape.
  ///
  /// - Parameter family: Another family in which the device has the same number and key.
  package func send(_ request: Request, in family: UInt64? = nil) throws {
    lastID += 1
    var request = request
    if case .command(let id, let command, nil) = request, !sendsUnsigned {
      request = .command(id, command, .shape(of: address.device))
    }
    var envelope = Envelope(device: address, requestID: lastID, request: request)
    if let family { envelope.device.family = FamilyID(family) }
    if case .attach = request, family == nil { envelope.pass = pass }
    let body = envelope.encode()
    try sendRaw(isPlain ? [body] : [[], body])
  }

  /// A ping in the name of a family that may not exist.
  package func guess(_ family: UInt64) -> [UInt8] {
    let device = DeviceAddress(family: FamilyID(family), device: DeviceID(1))
    return Envelope(device: device, requestID: family, request: .ping).encode()
  }

  package func ask(
    _ request: Request, in family: UInt64? = nil, within time: Nanoseconds = patience
  ) throws -> Reply? {
    try send(request, in: family)
    while let reply = try receive(within: time) {
      if !reply.pass.isEmpty { pass = reply.pass }
      inbox = reply.inbox ?? inbox
      if reply.requestID == lastID { return reply.reply.opened() }
    }
    return nil
  }

  package func post(_ text: String, child: UInt32 = 3, id: CommandID = .next) throws -> Reply? {
    try ask(.command(id, .post(child: PersonID(child), .text(text))))
  }

  /// Attaches and subscribes to the inbox of the reply.
  package func attach(_ cursors: [Cursor] = []) throws {
    guard case .attached(let list, _) = try ask(.attach(cursors)), let inbox else {
      throw Problem.notEnrolled
    }
    for channel in list { channels[channel.audience] = channel }
    guard inbox != subscribedInbox else { return }
    if let subscribedInbox { try broadcasts.unsubscribe(subscribedInbox.subscription) }
    try broadcasts.subscribe(inbox.subscription)
    subscribedInbox = inbox
  }

  package func subscribe(_ topic: [UInt8]) throws { try broadcasts.subscribe(topic) }

  package func resubscribe() throws {
    if let subscribedInbox { try broadcasts.unsubscribe(subscribedInbox.subscription) }
    try broadcasts.subscribe(inbox!.subscription)
    subscribedInbox = inbox
  }

  /// Whether the event arrives. Skips other events.
  package func receives(seq: UInt64) throws -> Bool {
    while let event = try event() { if event.seq == seq { return true } }
    return false
  }

  /// The next broadcast on one of the peer's channels. A host's inbox brings those of other families,
  /// too, of which thousands may wait.
  package func broadcast(within time: Nanoseconds = patience) throws -> Broadcast? {
    while try broadcasts.waitUntilReadable(within: time), let message = try broadcasts.receive() {
      if let frame = SealedBroadcast(frame: message.bytes(1)),
        let channel = channels.values.first(where: { $0.topic == frame.topic }),
        let bytes = ChannelCipher.open(frame.sealed, topic: frame.topic, key: channel.key)
      {
        return try Broadcast.decode(bytes).opened()
      }
      unopenedCount += 1
    }
    return nil
  }

  /// The next event on any channel.
  package func event(within time: Nanoseconds = patience) throws -> Event? {
    while let next = try broadcast(within: time) {
      if case .event(let event) = next { return event }
    }
    return nil
  }

  /// The texts of the child's conversation, fetched from the relay.
  package func texts(after: UInt64 = 0, child: UInt32 = 3) throws -> [String] {
    let fetch = Request.fetch(.conversation(PersonID(child)), after: after)
    guard case .page(_, let events, _) = try ask(fetch) else { return [] }
    return events.compactMap {
      if case .posted(_, .text(let text)) = $0.body { text } else { nil }
    }
  }
}
