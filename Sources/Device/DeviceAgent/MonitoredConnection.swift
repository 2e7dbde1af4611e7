import ZeroMQ

/// A connecting socket with its monitor.
///
/// Knows the state of the connection and reconnects after libzmq has given up; ``ConnectionHealth``
/// lists those cases. Confined to the host's socket thread.
final class MonitoredConnection {
  let socket: Socket
  private var monitor: Monitor
  private let kind: SocketKind
  private let endpoint: String
  private(set) var health = ConnectionHealth()

  /// Connects in the background.
  init(_ kind: SocketKind, to endpoint: String, options: SocketOptions, in context: Context)
    throws(ZeroMQError)
  {
    socket = try Socket(kind, in: context, options: options)
    monitor = try Monitor(socket, in: context)
    self.kind = kind
    self.endpoint = endpoint
    try socket.connect(endpoint)
  }

  var monitorSocket: Socket {
    _read { yield monitor.socket }
  }

  /// The states of the connection since the last call. The last one is the current state.
  ///
  /// After the end of a connection, nothing stays queued for the absent relay: the outbox keeps
  /// commands and sends them after a reconnection.
  func drainChanges() throws(ZeroMQError) -> [ConnectionHealth.State] {
    var states: [ConnectionHealth.State] = []
    var health = health
    let wasConnected = health.state == .connected
    _ = try monitor.drain { event in
      let before = health.state
      health.step(event.kind, now: MonotonicInstant.now)
      if health.state != before { states.append(health.state) }
    }
    self.health = health
    if kind == .dealer, wasConnected, health.state != .connected { try reconnect() }
    return states
  }

  /// Reconnects if libzmq has given up.
  func reconnectIfStalled() throws(ZeroMQError) {
    guard health.hasGivenUp(now: MonotonicInstant.now) else { return }
    try reconnect()
  }

  private func reconnect() throws(ZeroMQError) {
    health.didReconnect()
    try socket.renewConnection(to: endpoint)
  }
}
