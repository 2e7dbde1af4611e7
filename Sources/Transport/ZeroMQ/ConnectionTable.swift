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
  /// The bytes that may wait for and from peers; `nil`: any number.
  public var queues: QueueLimits?
  /// The time within which a Unix socket's peer must complete a message while memory is critical; `nil`:
  /// any time. The bytes of an unfinished message are unknown there. Only the owner of a ROUTER records
  /// messages.
  public var unfinished: Nanoseconds?

  /// Creates the limits of a socket.
  public init(
    connections: Int, perOwner: Int? = nil, proven: Bytes, unproven: Bytes,
    unprovenTimeout: Nanoseconds, queues: QueueLimits? = nil, unfinished: Nanoseconds? = nil
  ) {
    self.connections = connections
    self.perOwner = perOwner
    self.proven = proven
    self.unproven = unproven
    self.unprovenTimeout = unprovenTimeout
    self.queues = queues
    self.unfinished = unfinished
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
  struct Connection {
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
    var queues = ConnectionQueues()
  }

  let limits: ConnectionLimits
  /// Whether the process is short of memory.
  var isUnderPressure = false
  /// Whether the process has nearly used up its memory.
  var isCritical = false
  /// Whether no received message waited at some time since the last check.
  private(set) var wasEmpty = false
  /// Connections of each owner.
  private var owned: [String: Int] = [:]
  var connections: [Int32: Connection] = [:]
  private var unsettled: [Int32] = []
  /// The number of calls of ``settle()`` that settled a connection.
  private(set) var epoch: UInt64 = 0

  init(_ limits: ConnectionLimits) { self.limits = limits }

  var count: Int { connections.count }
  private var isCrowded: Bool { count > limits.connections / 2 }

  mutating func accepted(_ descriptor: Int32, now: MonotonicInstant) {
    remove(descriptor)
    connections[descriptor] = Connection(since: now, checkedAt: now)
    unsettled.append(descriptor)
  }

  /// Records that no message waits.
  mutating func settle() {
    wasEmpty = true
    guard !unsettled.isEmpty else { return }
    epoch += 1
    for descriptor in unsettled { connections[descriptor]?.settledIn = epoch }
    unsettled = []
  }

  mutating func remove(_ descriptor: Int32) {
    setOwner(of: descriptor, nil)
    connections[descriptor] = nil
  }

  mutating func prove(_ descriptor: Int32, receivedIn epoch: UInt64, owner: String? = nil) {
    guard let settled = connections[descriptor]?.settledIn, settled <= epoch else { return }
    connections[descriptor]?.isProven = true
    if let owner { setOwner(of: descriptor, owner) }
  }

  /// Records whose key a connection has. The owner has proved the key, but may be a stranger.
  mutating func setOwner(of descriptor: Int32, _ owner: String?) {
    guard let index = connections.index(forKey: descriptor),
      connections.values[index].owner != owner
    else { return }
    if let former = connections.values[index].owner {
      let count = owned[former, default: 1] - 1
      owned[former] = count > 0 ? count : nil
    }
    connections.values[index].owner = owner
    if let owner { owned[owner, default: 0] += 1 }
  }

  /// Whether the owner has more connections than the limit.
  func isCrowded(by owner: String) -> Bool {
    limits.perOwner.map { owned[owner, default: 0] > $0 } ?? false
  }

  /// Removes the connections that exceed a limit, except for the totals of the queues.
  ///
  /// - Parameter traffic: The kernel's report of a connection; `nil` if unknown.
  /// - Returns: The descriptors to close.
  mutating func removeExcessive(now: MonotonicInstant, traffic: (Int32) -> SocketTraffic?)
    -> [Int32]
  {
    var excessive: [Int32] = []
    for descriptor in connections.keys {
      let report = traffic(descriptor)
      let isOverdue = connections[descriptor].map {
        !$0.isProven && now >= $0.since + limits.unprovenTimeout
      }
      if isCrowded && isOverdue == true || exceeds(descriptor, now, report?.received)
        || exceedsQueues(descriptor, now, report)
      {
        excessive.append(descriptor)
      }
    }
    wasEmpty = false
    for descriptor in excessive { remove(descriptor) }
    return excessive + removeSurplusOfOwners() + removeSurplus()
  }

  /// Removes the oldest connections of each owner above its limit.
  private mutating func removeSurplusOfOwners() -> [Int32] {
    guard let limit = limits.perOwner, owned.values.contains(where: { $0 > limit }) else {
      return []
    }
    var crowds: [String: [Int32]] = [:]
    for (descriptor, connection) in connections {
      if let owner = connection.owner, isCrowded(by: owner) {
        crowds[owner, default: []].append(descriptor)
      }
    }
    var surplus: [Int32] = []
    for descriptors in crowds.values {
      let order = descriptors.sorted { connections[$0]!.since < connections[$1]!.since }
      surplus += order.prefix(descriptors.count - limit)
    }
    for descriptor in surplus { remove(descriptor) }
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
    for descriptor in surplus { remove(descriptor) }
    return surplus
  }
}
