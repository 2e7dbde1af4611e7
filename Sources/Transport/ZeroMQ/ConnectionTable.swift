/// The limits of a listening socket's connections. A connection above a limit is closed.
public struct ConnectionLimits: Sendable, Hashable {
  /// A token bucket of received bytes.
  public struct Bytes: Sendable, Hashable {
    /// Bytes that a peer may send at once.
    public var burst: UInt64
    /// Bytes per second that a peer may send in the long run.
    public var perSecond: UInt64
    /// Creates a token bucket's size.
    public init(burst: UInt64, perSecond: UInt64) {
      self.burst = burst
      self.perSecond = perSecond
    }
  }

  /// Open connections of the socket.
  public var connections: Int
  /// Open connections of one owner, which ``ConnectionGuard/prove(_:owner:)`` names; `nil`: any number.
  public var perOwner: Int?
  /// Bytes from a peer that has proved to be a device.
  public var proven: Bytes
  /// Bytes from any other peer.
  public var unproven: Bytes
  /// The time after which an unproven connection is closed while more than half of `connections`
  /// are open.
  public var unprovenTimeout: Nanoseconds

  /// Creates the limits of a socket.
  public init(
    connections: Int, perOwner: Int? = nil, proven: Bytes, unproven: Bytes,
    unprovenTimeout: Nanoseconds
  ) {
    self.connections = connections
    self.perOwner = perOwner
    self.proven = proven
    self.unproven = unproven
    self.unprovenTimeout = unprovenTimeout
  }
}

/// The connections of a listening socket by file descriptor, with their received bytes.
///
/// A connection is `unsettled` → (``settle()``) `unproven` → (``prove(_:receivedIn:owner:)``) `proven`;
/// each → (``removeExcessive(now:received:)``) `removed`.
///
/// The kernel reuses descriptors, so a message may name the descriptor of a connection that has ended.
/// A message therefore proves only a connection that was settled before the message was received. All
/// messages of the descriptor's earlier connections had been received by then.
struct ConnectionTable {
  private struct Connection {
    var since: MonotonicInstant
    /// The epoch that began when the connection was settled; `nil` before.
    var settledIn: UInt64?
    var isProven = false
    var owner: String?
    /// Bytes received by the last check.
    var received: UInt64 = 0
    /// Bytes above the long-run rate: the debt of the token bucket.
    var excess = 0.0
    var checkedAt: MonotonicInstant
  }

  let limits: ConnectionLimits
  private var connections: [Int32: Connection] = [:]
  private var unsettled: [Int32] = []
  /// The number of calls of ``settle()`` that settled a connection.
  private(set) var epoch: UInt64 = 0

  init(_ limits: ConnectionLimits) { self.limits = limits }

  var count: Int { connections.count }
  private var isCrowded: Bool { count > limits.connections / 2 }

  mutating func accepted(_ descriptor: Int32, now: MonotonicInstant) {
    connections[descriptor] = Connection(since: now, checkedAt: now)
    unsettled.append(descriptor)
  }

  /// Records that no message waits.
  mutating func settle() {
    guard !unsettled.isEmpty else { return }
    epoch += 1
    for descriptor in unsettled { connections[descriptor]?.settledIn = epoch }
    unsettled = []
  }

  mutating func remove(_ descriptor: Int32) { connections[descriptor] = nil }

  mutating func prove(_ descriptor: Int32, receivedIn epoch: UInt64, owner: String? = nil) {
    guard let settled = connections[descriptor]?.settledIn, settled <= epoch else { return }
    connections[descriptor]?.isProven = true
    connections[descriptor]?.owner = owner
  }

  /// Whether the owner has more connections than the limit.
  func isCrowded(by owner: String) -> Bool {
    guard let limit = limits.perOwner else { return false }
    return connections.values.count { $0.owner == owner } > limit
  }

  /// Removes the connections that exceed a limit.
  ///
  /// - Parameter received: The total bytes of a connection; `nil` if unknown.
  /// - Returns: The descriptors to close.
  mutating func removeExcessive(now: MonotonicInstant, received: (Int32) -> UInt64?) -> [Int32] {
    var excessive: [Int32] = []
    for (descriptor, connection) in connections {
      let isOverdue = !connection.isProven && now >= connection.since + limits.unprovenTimeout
      if isCrowded && isOverdue || exceeds(descriptor, now, received(descriptor)) {
        excessive.append(descriptor)
      }
    }
    for descriptor in excessive { connections[descriptor] = nil }
    return excessive + removeSurplusOfOwners() + removeSurplus()
  }

  /// Removes the oldest connections of each owner above its limit.
  private mutating func removeSurplusOfOwners() -> [Int32] {
    guard let limit = limits.perOwner else { return [] }
    var owned: [String: [Int32]] = [:]
    for (descriptor, connection) in connections {
      if let owner = connection.owner { owned[owner, default: []].append(descriptor) }
    }
    var surplus: [Int32] = []
    for descriptors in owned.values where descriptors.count > limit {
      let order = descriptors.sorted { connections[$0]!.since < connections[$1]!.since }
      surplus += order.prefix(descriptors.count - limit)
    }
    for descriptor in surplus { connections[descriptor] = nil }
    return surplus
  }

  private mutating func exceeds(_ descriptor: Int32, _ now: MonotonicInstant, _ received: UInt64?)
    -> Bool
  {
    guard var connection = connections[descriptor], let received else { return false }
    let bytes = connection.isProven ? limits.proven : limits.unproven
    let refilled = (now - connection.checkedAt).seconds * Double(bytes.perSecond)
    let new = received >= connection.received ? received - connection.received : 0
    connection.excess = max(0, connection.excess + Double(new) - refilled)
    connection.received = received
    connection.checkedAt = now
    connections[descriptor] = connection
    return connection.excess > Double(bytes.burst)
  }

  /// Removes connections above the maximum: unproven ones first, and the oldest of them first,
  /// because a device proves itself with its first message.
  private mutating func removeSurplus() -> [Int32] {
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
