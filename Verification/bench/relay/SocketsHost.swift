import FamilyModel
import RelayWire
import ZeroMQ

/// One host with one device: a connection for requests, and one for broadcasts.
struct SocketsHost: ~Copyable {
  /// The number of the attachment after a reconnection.
  static let comingID: UInt64 = 3

  private var requests: Socket
  private var broadcasts: Socket
  private let keys: CurveKeyPair
  private let family: UInt64
  private var inbox: Inbox?
  /// Whether the awaited reply has arrived.
  private(set) var hasReply = false
  /// Whether a broadcast has arrived: the relay broadcasts heads to a new subscriber.
  private(set) var isSubscribed = false

  init(
    _ family: UInt64, _ keys: CurveKeyPair, _ address: RelayAddress, in context: Context
  ) throws {
    let requests = try Self.connected(.dealer, to: address.requests, keys, address, context)
    let broadcasts = try Self.connected(.sub, to: address.broadcasts, keys, address, context)
    self.requests = requests
    self.broadcasts = broadcasts
    self.family = family
    self.keys = keys
  }

  private static func connected(
    _ kind: SocketKind, to endpoint: String, _ keys: CurveKeyPair, _ address: RelayAddress,
    _ context: Context
  ) throws -> Socket {
    var options = SocketOptions()
    options.security = .client(keys, server: address.relayKey!)
    let socket = try Socket(kind, in: context, options: options)
    try socket.connect(endpoint)
    return socket
  }

  /// Whether the host has a reply and receives broadcasts.
  var isServed: Bool { hasReply && isSubscribed }

  /// Forgets what has arrived.
  mutating func restart() { (hasReply, isSubscribed) = (false, false) }

  /// Sends a request of the device.
  func request(_ id: UInt64, _ request: Request) throws {
    let envelope = Envelope(
      device: DeviceAddress(family: FamilyID(family), device: RelayAddress.childDevice),
      requestID: id, request: request)
    guard try requests.sendPart([], more: true) == .sent else { return }
    _ = try requests.sendPart(envelope.encode(), more: false)
  }

  /// Receives what waits, and subscribes to the inbox of a reply.
  mutating func receive(_ id: UInt64) throws {
    while let message = try requests.receive() {
      let reply = try message.withBytes(1) { bytes throws(Problem) in
        try ReplyEnvelope.decode(bytes)
      }
      guard reply.requestID == id else { continue }
      hasReply = true
      guard let new = reply.inbox, new != inbox else { continue }
      if let inbox { try broadcasts.unsubscribe(inbox.subscription) }
      try broadcasts.subscribe(new.subscription)
      inbox = new
    }
    while let message = try broadcasts.receive() { isSubscribed = message.count == 2 }
  }

  /// Leaves and comes again.
  mutating func reconnect(_ address: RelayAddress, in context: Context) throws {
    requests = try Self.connected(.dealer, to: address.requests, keys, address, context)
    broadcasts = try Self.connected(.sub, to: address.broadcasts, keys, address, context)
    inbox = nil
    restart()
    try request(Self.comingID, .attach([]))
  }
}
