import Credentials
import FamilyModel
import ZeroMQ

/// The two sockets between one key and the relay, shared by all hosted devices of that key.
///
/// It is confined to the host's thread.
final class RelayConnection {
  let requests: MonitoredConnection
  let broadcasts: MonitoredConnection
  /// Of the attached devices.
  var presence = Presence()
  /// Of commands.
  var questionWindow = QuestionWindow<DeviceAddress>()
  private var message = Multipart()
  /// The device of this key that was the first to listen to a topic: mostly the only one.
  private var first: [[UInt8]: DeviceAddress] = [:]
  private var further: [[UInt8]: [DeviceAddress]] = [:]

  init(_ credential: Credential, in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.security = .client(credential.keys, server: credential.relayKey)
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = 10_000
    options.receiveHighWaterMark = 100_000
    // Nothing is queued for an absent relay: the outbox keeps it, and sends it when the relay is there.
    options.immediate = true
    options.reconnectIntervalMaximum = 500
    // First what only listens: whoever attaches is told of events at once.
    broadcasts = try MonitoredConnection(
      .sub, to: credential.broadcasts, options: options, in: context)
    requests = try MonitoredConnection(
      .dealer, to: credential.requests, options: options, in: context)
  }

  /// When ``revive()`` or ``presence`` may have work, in nanoseconds of `Monotonic`.
  var deadline: UInt64? {
    [requests.health.givesUpAt, broadcasts.health.givesUpAt, presence.deadline]
      .compactMap { $0 }.min()
  }

  func revive() throws(ZeroMQError) {
    try requests.revive()
    try broadcasts.revive()
  }

  func listener(_ topic: [UInt8]) -> DeviceAddress? { first[topic] }
  func furtherListeners(_ topic: [UInt8]) -> [DeviceAddress] {
    further.isEmpty ? [] : further[topic] ?? []
  }

  func listen(_ topic: [UInt8], _ address: DeviceAddress) throws(ZeroMQError) {
    guard first[topic] == nil else { return further[topic, default: []].append(address) }
    first[topic] = address
    try broadcasts.socket.subscribe(topic)
  }

  func stopListening(_ topic: [UInt8], _ address: DeviceAddress) throws(ZeroMQError) {
    var others = furtherListeners(topic)
    if first[topic] == address {
      first[topic] = others.isEmpty ? nil : others.removeFirst()
      if first[topic] == nil { try broadcasts.socket.unsubscribe(topic) }
    } else {
      others.removeAll { $0 == address }
    }
    further[topic] = others.isEmpty ? nil : others
  }

  /// Subscribes once more, since nothing seems to come: libzmq does not send a subscription that it counts
  /// already.
  func listenAnew(_ topic: [UInt8]) throws(ZeroMQError) {
    guard first[topic] != nil else { return }
    try broadcasts.socket.unsubscribe(topic)
    try broadcasts.socket.subscribe(topic)
  }

  /// The bodies of the replies that wait, up to `limit`; `nil` for what is none.
  func drainReplies(limit: Int, _ body: (UnsafeRawBufferPointer?) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try requests.socket.receive(into: &message) != .nothing else { return }
      if message.count == 2 { message.withBytes(1, body) } else { body(nil) }
    }
  }

  /// The topics and sealed bytes of the broadcasts that wait, up to `limit`; `nil` for what is none.
  func drainBroadcasts(limit: Int, _ body: ((topic: [UInt8], sealed: [UInt8])?) -> Void)
    throws(ZeroMQError)
  {
    for _ in 0..<limit {
      guard try broadcasts.socket.receive(into: &message) != .nothing else { return }
      body(message.count == 2 ? (message.bytes(0), message.bytes(1)) : nil)
    }
  }
}
