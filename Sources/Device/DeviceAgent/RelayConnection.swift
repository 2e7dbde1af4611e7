import Credentials
import FamilyModel
import ZeroMQ

/// The two sockets between one key and the relay, shared by all hosted devices of that key.
///
/// Confined to the host's socket thread.
final class RelayConnection {
  let requests: MonitoredConnection
  let broadcasts: MonitoredConnection
  private var message = Multipart()

  init(_ credential: Credential, in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.security = .client(credential.keys, server: credential.relayKey)
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = 10_000
    options.receiveHighWaterMark = 100_000
    options.spreadReconnects()
    // Broadcasts connect first, because a device receives events as soon as it is attached.
    broadcasts = try MonitoredConnection(
      .sub, to: credential.broadcasts, options: options, in: context)
    requests = try MonitoredConnection(
      .dealer, to: credential.requests, options: options, in: context)
  }

  /// When ``reconnectIfStalled()`` is due.
  var deadline: MonotonicInstant? {
    [requests.health.givesUpAt, broadcasts.health.givesUpAt].compactMap { $0 }.min()
  }

  func reconnectIfStalled() throws(ZeroMQError) {
    try requests.reconnectIfStalled()
    try broadcasts.reconnectIfStalled()
  }

  /// Passes the bodies of waiting replies to `body`, at most `limit`; `nil` for a message with a
  /// wrong number of frames.
  func drainReplies(limit: Int, _ body: (UnsafeRawBufferPointer?) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try requests.socket.receive(into: &message) != .nothing else { return }
      if message.count == 2 { message.withBytes(1, body) } else { body(nil) }
    }
  }

  /// Passes the second frames of waiting broadcasts to `body`, at most `limit`; `nil` for a message
  /// with a wrong number of frames. The first frame is the inbox.
  func drainBroadcasts(limit: Int, _ body: ([UInt8]?) -> Void) throws(ZeroMQError) {
    for _ in 0..<limit {
      guard try broadcasts.socket.receive(into: &message) != .nothing else { return }
      body(message.count == 2 ? message.bytes(1) : nil)
    }
  }
}
