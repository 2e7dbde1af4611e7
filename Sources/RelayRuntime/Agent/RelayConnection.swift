import FamilyModel
import ZeroMQ

/// The two sockets between one key and the relay, shared by all hosted devices of that key.
///
/// It is confined to the host's thread.
final class RelayConnection {
  /// What happened to the connection for requests.
  enum Change { case up, down, refused }

  let requests: Socket
  let broadcasts: Socket
  private var monitor: Monitor
  private var message = Multipart()
  /// How many devices listen to a topic.
  private var listeners: [[UInt8]: Int] = [:]
  private(set) var isUp = false

  init(_ credential: Credential, in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.security = .client(credential.keys, server: credential.relayKey)
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = 10_000
    options.receiveHighWaterMark = 100_000
    // Nothing is queued for an absent relay: the outbox keeps it, and sends it when the relay is there.
    options.immediate = true
    options.reconnectIntervalMaximum = 500
    requests = try Socket(.dealer, in: context, options: options)
    broadcasts = try Socket(.sub, in: context, options: options)
    monitor = try Monitor(requests, in: context)
    try broadcasts.connect(credential.broadcasts)
    try requests.connect(credential.requests)
  }

  var monitorSocket: Socket {
    _read { yield monitor.socket }
  }

  /// What the monitor has seen since the last call.
  func changes() throws(ZeroMQError) -> [Change] {
    var changes: [Change] = []
    _ = try monitor.drain { event in
      switch event.kind {
      case .handshakeSucceeded: changes.append(.up)
      case .disconnected where isUp: changes.append(.down)
      case .handshakeFailed: changes.append(.refused)
      default: break
      }
      if case .handshakeSucceeded = event.kind { isUp = true }
      if case .disconnected = event.kind { isUp = false }
    }
    return changes
  }

  func listen(_ topic: [UInt8]) throws(ZeroMQError) {
    listeners[topic, default: 0] += 1
    if listeners[topic] == 1 { try broadcasts.subscribe(topic) }
  }

  func stopListening(_ topic: [UInt8]) throws(ZeroMQError) {
    guard let count = listeners[topic] else { return }
    listeners[topic] = count == 1 ? nil : count - 1
    if count == 1 { try broadcasts.unsubscribe(topic) }
  }

  /// The bodies of the replies that wait, up to `limit`.
  func drainReplies(limit: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try requests.receive(into: &message) != .nothing else { return }
      if message.count == 2 { message.withBytes(1, body) }
    }
  }

  /// The topics and sealed bytes of the broadcasts that wait, up to `limit`.
  func drainBroadcasts(limit: Int, _ body: ([UInt8], [UInt8]) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try broadcasts.receive(into: &message) != .nothing else { return }
      if message.count == 2 { body(message.bytes(0), message.bytes(1)) }
    }
  }
}
