/// What each connection of a listening socket may take, and when it is cut off.
public struct ConnectionLimits: Sendable, Hashable {
  /// Bytes that may come at once, and each second in the long run.
  public struct Bytes: Sendable, Hashable {
    /// At once.
    public var burst: UInt64
    /// Each second, in the long run.
    public var perSecond: UInt64
    /// A limit of these numbers.
    public init(burst: UInt64, perSecond: UInt64) {
      self.burst = burst
      self.perSecond = perSecond
    }
  }

  /// Connections of the socket at the same time.
  public var connections: Int
  /// Bytes from a peer that has proved who it is.
  public var proven: Bytes
  /// Bytes from any other.
  public var unproven: Bytes
  /// Nanoseconds after which a peer that has proved nothing has to go, when half of `connections` are there.
  public var patience: UInt64

  /// Limits of these numbers.
  public init(connections: Int, proven: Bytes, unproven: Bytes, patience: UInt64) {
    self.connections = connections
    self.proven = proven
    self.unproven = unproven
    self.patience = patience
  }
}

/// The connections of a listening socket, by file descriptor, and which of them go too far.
///
/// A connection is `unproven` → (``prove(_:)``) `proven`, and `cut` from either. Times are of one clock that
/// does not go back, in nanoseconds.
struct ConnectionTable {
  private struct Connection {
    var since: UInt64
    var isProven = false
    /// Received at the last look, and of that what is above the long run's rate.
    var received: UInt64 = 0
    var excess = 0.0
    var looked: UInt64
  }

  let limits: ConnectionLimits
  private var connections: [Int32: Connection] = [:]

  init(_ limits: ConnectionLimits) { self.limits = limits }

  var count: Int { connections.count }
  private var isCrowded: Bool { count > limits.connections / 2 }

  mutating func accepted(_ descriptor: Int32, now: UInt64) {
    connections[descriptor] = Connection(since: now, looked: now)
  }

  mutating func gone(_ descriptor: Int32) { connections[descriptor] = nil }

  mutating func prove(_ descriptor: Int32) { connections[descriptor]?.isProven = true }

  /// Those to be cut off, which are forgotten here.
  ///
  /// - Parameter received: Bytes that came over a connection so far; `nil`: it cannot be told.
  mutating func takeExcessive(now: UInt64, received: (Int32) -> UInt64?) -> [Int32] {
    var cut: [Int32] = []
    for (descriptor, connection) in connections {
      let isLate = !connection.isProven && now >= connection.since + limits.patience
      if isCrowded && isLate || exceeds(descriptor, now, received(descriptor)) {
        cut.append(descriptor)
      }
    }
    for descriptor in cut { connections[descriptor] = nil }
    return cut + takeSurplus()
  }

  private mutating func exceeds(_ descriptor: Int32, _ now: UInt64, _ received: UInt64?) -> Bool {
    guard var connection = connections[descriptor], let received else { return false }
    let bytes = connection.isProven ? limits.proven : limits.unproven
    let back = Double(now - connection.looked) / 1e9 * Double(bytes.perSecond)
    let new = received >= connection.received ? received - connection.received : 0
    connection.excess = max(0, connection.excess + Double(new) - back)
    connection.received = received
    connection.looked = now
    connections[descriptor] = connection
    return connection.excess > Double(bytes.burst)
  }

  /// What is above the number of connections: those that proved nothing first, the oldest first, since who is
  /// at home here proves it in its first message.
  private mutating func takeSurplus() -> [Int32] {
    guard count > limits.connections else { return [] }
    let order = connections.sorted { a, b in
      a.value.isProven == b.value.isProven
        ? a.value.since < b.value.since : !a.value.isProven
    }
    let surplus = order.prefix(count - limits.connections).map(\.key)
    for descriptor in surplus { connections[descriptor] = nil }
    return surplus
  }
}
