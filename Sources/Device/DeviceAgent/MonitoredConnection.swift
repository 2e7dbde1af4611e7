import ZeroMQ

/// A connecting socket with its monitor: knows how its connection is, and makes it anew where libzmq has
/// stopped trying (``ConnectionHealth`` lists when that is).
///
/// It is confined to the host's thread.
final class MonitoredConnection {
  let socket: Socket
  private var monitor: Monitor
  private let endpoint: String
  private(set) var health = ConnectionHealth()

  /// Connects in the background.
  init(_ kind: SocketKind, to endpoint: String, options: SocketOptions, in context: Context)
    throws(ZeroMQError)
  {
    socket = try Socket(kind, in: context, options: options)
    monitor = try Monitor(socket, in: context)
    self.endpoint = endpoint
    try socket.connect(endpoint)
  }

  var monitorSocket: Socket {
    _read { yield monitor.socket }
  }

  /// The states that the connection went through since the last call; the last is the present one.
  func changes() throws(ZeroMQError) -> [ConnectionHealth.State] {
    var states: [ConnectionHealth.State] = []
    var health = health
    _ = try monitor.drain { event in
      let before = health.state
      health.step(event.kind, now: Monotonic.now())
      if health.state != before { states.append(health.state) }
    }
    self.health = health
    return states
  }

  /// Connects again where libzmq does not.
  func revive() throws(ZeroMQError) {
    guard health.hasGivenUp(now: Monotonic.now()) else { return }
    health.revived()
    // The endpoint may be gone from the socket already, with the connection.
    do { try socket.disconnect(endpoint) } catch  where error.code == .addressUnavailable {}
    try socket.connect(endpoint)
  }
}
