import ZeroMQ

/// A DEALER connected to a worker, with its monitor. Owned by the client's socket thread.
final class WorkerConnection {
  let socket: Socket
  private var monitor: Monitor
  private var health = ConnectionHealth()
  private var downSince: UInt64?

  /// Connects in the background.
  init(
    to endpoint: String, key: CurvePublicKey, keys: CurveKeyPair, in context: Context, now: UInt64
  ) throws(ZeroMQError) {
    var options = SocketOptions()
    options.security = .client(keys, server: key)
    options.maximumMessageSize = Int64(ContentLimits.replyBytes)
    options.sendHighWaterMark = ContentLimits.sendHighWaterMark
    options.receiveHighWaterMark = ContentLimits.receiveHighWaterMark
    options.immediate = true
    socket = try Socket(.dealer, in: context, options: options)
    monitor = try Monitor(socket, in: context)
    downSince = now
    try socket.connect(endpoint)
  }

  var monitorSocket: Socket {
    _read { yield monitor.socket }
  }

  /// Whether the CURVE handshake with the worker's key has succeeded.
  var isUp: Bool { health.state == .connected }

  /// Whether the connection is down so long that the worker may have moved or libzmq given up.
  func isLost(_ now: UInt64) -> Bool {
    downSince.map { now >= $0 + ContentLimits.reopenAfter } ?? false
  }

  /// Handles the monitor's events; returns whether a new handshake succeeded.
  func drainMonitor() -> Bool {
    var isNew = false
    let now = Monotonic.now()
    _ = try? monitor.drain { event in
      health.step(event.kind, now: now)
      if event.kind == .handshakeSucceeded { isNew = true }
    }
    if isUp { downSince = nil } else if downSince == nil { downSince = now }
    return isNew
  }
}
