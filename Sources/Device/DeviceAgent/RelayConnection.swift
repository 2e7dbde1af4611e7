import Credentials
import FamilyModel
import ZeroMQ

/// The two sockets between one key and the relay, shared by all hosted devices of that key.
///
/// Confined to the host's socket thread.
final class RelayConnection {
  let requests: MonitoredConnection
  let broadcasts: MonitoredConnection
  /// The presence of the attached devices.
  var presence = Presence()
  var questionWindow = QuestionWindow<DeviceAddress>()
  private var message = Multipart()
  /// The first subscriber of each topic, which is mostly the only one.
  private var firstSubscribers: [[UInt8]: DeviceAddress] = [:]
  private var furtherSubscribers: [[UInt8]: [DeviceAddress]] = [:]

  init(_ credential: Credential, in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.security = .client(credential.keys, server: credential.relayKey)
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = 10_000
    options.receiveHighWaterMark = 100_000
    // Nothing is queued for an absent relay: the outbox keeps commands and sends them after a
    // reconnect.
    options.immediate = true
    options.reconnectIntervalMaximum = .milliseconds(500)
    // Broadcasts connect first, because a device receives events as soon as it is attached.
    broadcasts = try MonitoredConnection(
      .sub, to: credential.broadcasts, options: options, in: context)
    requests = try MonitoredConnection(
      .dealer, to: credential.requests, options: options, in: context)
  }

  /// When ``reconnectIfStalled()`` or ``presence`` is due.
  var deadline: MonotonicInstant? {
    [requests.health.givesUpAt, broadcasts.health.givesUpAt, presence.deadline]
      .compactMap { $0 }.min()
  }

  func reconnectIfStalled() throws(ZeroMQError) {
    try requests.reconnectIfStalled()
    try broadcasts.reconnectIfStalled()
  }

  func firstSubscriber(of topic: [UInt8]) -> DeviceAddress? { firstSubscribers[topic] }
  func furtherSubscribers(of topic: [UInt8]) -> [DeviceAddress] {
    furtherSubscribers.isEmpty ? [] : furtherSubscribers[topic] ?? []
  }

  func subscribe(_ address: DeviceAddress, to topic: [UInt8]) throws(ZeroMQError) {
    guard firstSubscribers[topic] == nil else {
      return furtherSubscribers[topic, default: []].append(address)
    }
    firstSubscribers[topic] = address
    try broadcasts.socket.subscribe(topic)
  }

  func unsubscribe(_ address: DeviceAddress, from topic: [UInt8]) throws(ZeroMQError) {
    var others = furtherSubscribers(of: topic)
    if firstSubscribers[topic] == address {
      firstSubscribers[topic] = others.isEmpty ? nil : others.removeFirst()
      if firstSubscribers[topic] == nil { try broadcasts.socket.unsubscribe(topic) }
    } else {
      others.removeAll { $0 == address }
    }
    furtherSubscribers[topic] = others.isEmpty ? nil : others
  }

  /// Repeats the subscription after broadcasts seem to be lost. Unsubscribes first, because libzmq
  /// does not send a subscription that it counts already.
  func resubscribe(to topic: [UInt8]) throws(ZeroMQError) {
    guard firstSubscribers[topic] != nil else { return }
    try broadcasts.socket.unsubscribe(topic)
    try broadcasts.socket.subscribe(topic)
  }

  /// Passes the bodies of waiting replies to `body`, at most `limit`; `nil` for a message with a
  /// wrong number of frames.
  func drainReplies(limit: Int, _ body: (UnsafeRawBufferPointer?) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try requests.socket.receive(into: &message) != .nothing else { return }
      if message.count == 2 { message.withBytes(1, body) } else { body(nil) }
    }
  }

  /// Passes the topics and sealed bytes of waiting broadcasts to `body`, at most `limit`; `nil` for
  /// a message with a wrong number of frames.
  func drainBroadcasts(limit: Int, _ body: ((topic: [UInt8], sealed: [UInt8])?) -> Void)
    throws(ZeroMQError)
  {
    for _ in 0..<limit {
      guard try broadcasts.socket.receive(into: &message) != .nothing else { return }
      body(message.count == 2 ? (message.bytes(0), message.bytes(1)) : nil)
    }
  }
}
