import ZeroMQ

/// A DEALER connected to a worker, with its monitor. Owned by the client's socket thread.
final class WorkerConnection {
  let socket: Socket
  private var monitor: Monitor
  private var health = ConnectionHealth()
  private let address: WorkerAddress
  /// The time that a handshake with the same worker may take.
  private let handshakeTimeout: Nanoseconds
  private var downSince: MonotonicInstant?
  private var checkedAt: MonotonicInstant

  /// Connects in the background.
  ///
  /// - Parameter attempt: Connections in sequence, before this one, that did not come up.
  init(
    to address: WorkerAddress, key: CurvePublicKey, keys: CurveKeyPair, in context: Context,
    attempt: Int, now: MonotonicInstant
  ) throws(ZeroMQError) {
    self.address = address
    handshakeTimeout =
      ContentLimits.reopenAfter * (1 << min(attempt, ContentLimits.reopenDoublings))
    checkedAt = now
    var options = SocketOptions()
    options.security = .client(keys, server: key)
    options.maximumMessageSize = Int64(ContentLimits.replyBytes)
    options.sendHighWaterMark = ContentLimits.sendHighWaterMark
    options.receiveHighWaterMark = ContentLimits.receiveHighWaterMark
    socket = try Socket(.dealer, in: context, options: options)
    monitor = try Monitor(socket, in: context)
    downSince = now
    try socket.connect(address.endpoint)
  }

  var monitorSocket: Socket {
    _read { yield monitor.socket }
  }

  /// Whether the CURVE handshake with the worker's key has succeeded.
  var isUp: Bool { health.state == .connected }

  /// Whether the connection is down and ``ContentLimits/reopenAfter`` has passed since the last
  /// check.
  func isCheckDue(_ now: MonotonicInstant) -> Bool {
    downSince.map { now >= max($0, checkedAt) + ContentLimits.reopenAfter } ?? false
  }

  /// Records that `worker.json` was read and contains `current`.
  ///
  /// The worker may have moved, or libzmq may have given up. On a busy machine a handshake takes
  /// long: each connection to the same worker therefore has twice the time of the previous one.
  ///
  /// - Returns: Whether a new connection must replace this one.
  func recordCheck(of current: WorkerAddress, now: MonotonicInstant) -> Bool {
    checkedAt = now
    return current != address || downSince.map { now >= $0 + handshakeTimeout } ?? false
  }

  /// Handles the monitor's events; returns whether a new handshake succeeded.
  func drainMonitor() -> Bool {
    var isNew = false
    let wasUp = isUp
    let now = MonotonicInstant.now
    _ = try? monitor.drain { event in
      health.step(event.kind, now: now)
      if event.kind == .handshakeSucceeded { isNew = true }
    }
    // Queued pictures of an ended connection are sent again after the next handshake.
    if wasUp, !isUp { try? socket.renewConnection(to: address.endpoint) }
    if isUp { downSince = nil } else if downSince == nil { downSince = now }
    return isNew
  }
}
