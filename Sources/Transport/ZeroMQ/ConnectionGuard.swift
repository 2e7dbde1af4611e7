import CZeroMQ
import Glibc

/// Closes connections of a listening socket that exceed their limits.
///
/// A limit of libzmq exists for the size of a frame and for the number of complete messages in a
/// queue. The parts of a message, the queued bytes and the connections have none. A peer that never
/// ends its message could exhaust the memory, and connections could exhaust the file descriptors.
///
/// The guard counts the bytes that the kernel received from each peer. A connection above its limit
/// is shut down beneath libzmq, which then drops the unfinished message. An honest peer reconnects.
///
/// With ``QueueLimits`` the guard also bounds the bytes that wait in libzmq. Some wait for a peer that
/// does not read, others are of peers that send faster than the process reads. For this purpose, the
/// owner of a ROUTER reports each received and sent message, and the owner of an XPUB each broadcast.
///
/// Received bytes are counted on TCP only. Peers of a Unix socket have passed the folder's permissions.
/// Their number is limited, and the time for which they read nothing. Under pressure, those that send
/// faster than the process reads are closed, and later those that complete no message.
public struct ConnectionGuard: ~Copyable {
  /// The monitor. The thread that calls ``drain()`` watches the monitor's socket.
  public private(set) var monitor: Monitor
  private var table: ConnectionTable
  private var routes = RouteTable()
  private var subscribers = SubscriberTable()
  /// The sockets of the table's descriptors.
  private var identities: [Int32: SocketIdentity] = [:]
  /// The owners of connections since the last check, whose events may not have arrived.
  private var newOwners: [Int32: String] = [:]
  private var checks = 0
  /// Number of connections that ``check()`` and ``closeLargest(besides:)`` have closed.
  public private(set) var closedConnections = 0

  /// Creates a guard of the socket. Precondition: the socket is not bound yet, so that no
  /// connection is missed.
  /// - Throws: `terminated`, `tooManySockets`, `closed`.
  public init(
    _ socket: borrowing Socket, in context: Context, limits: ConnectionLimits
  ) throws(ZeroMQError) {
    monitor = try Monitor(socket, in: context)
    table = ConnectionTable(limits)
  }

  /// The number of open connections.
  public var count: Int { table.count }

  /// Records the connections that were accepted and closed since the last call.
  /// - Parameter limit: The most events of one call, so that other handlers run.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain(limit: Int = 1_000) throws(ZeroMQError) {
    let now = MonotonicInstant.now
    var (table, routes) = (table, routes)
    var identities: [Int32: SocketIdentity] = [:]
    var subscribers = SubscriberTable()
    // Many connections are not copied for each new one.
    swap(&identities, &self.identities)
    swap(&subscribers, &self.subscribers)
    defer { (self.identities, self.subscribers) = (identities, subscribers) }
    _ = try monitor.drain(limit: limit) { event in
      guard let descriptor = event.descriptor else { return }
      subscribers.remove(descriptor)
      if event.kind == .accepted {
        table.accepted(descriptor, now: now)
        identities[descriptor] = SocketIdentity(of: descriptor)
      } else {
        identities[descriptor] = nil
        table.remove(descriptor)
        routes.remove(descriptor)
      }
    }
    (self.table, self.routes) = (table, routes)
  }

  /// The number that a message received now has in ``prove(_:receivedIn:)``.
  public var epoch: UInt64 { table.epoch }

  /// Records that no message of the socket waits. Only then can later messages prove the connections
  /// that were accepted before: a descriptor's earlier connections have no messages left.
  ///
  /// Precondition: the socket was found empty after the last ``drain()``.
  public mutating func settle() { table.settle() }

  /// Records that the peer of the connection has proved to be a device.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of the message that proves the peer.
  ///   - epoch: The ``epoch`` when the message was received.
  ///   - owner: The key of the message, if ``ConnectionLimits/perOwner`` bounds its connections.
  public mutating func prove(_ descriptor: Int32?, receivedIn epoch: UInt64, owner: String? = nil) {
    if let descriptor { table.prove(descriptor, receivedIn: epoch, owner: owner) }
  }

  /// Records that the peer of the connection has proved, with a message received now, to be this
  /// owner.
  ///
  /// - Returns: Whether the owner has too many connections, so that ``check()`` closes some.
  public mutating func prove(_ descriptor: Int32?, owner: String) -> Bool {
    guard let descriptor else { return false }
    table.prove(descriptor, receivedIn: epoch, owner: owner)
    return table.isCrowded(by: owner)
  }

  // MARK: Queues

  /// Whether the process is short of memory. Then the limits of the queues are a fraction.
  public var isUnderPressure: Bool {
    get { table.isUnderPressure }
    set { table.isUnderPressure = newValue }
  }

  /// Whether the process has nearly used up its memory. Then the peers of Unix sockets that complete no
  /// message are closed, too.
  public var isCritical: Bool {
    get { table.isCritical }
    set { table.isCritical = newValue }
  }

  /// The bytes that were passed to libzmq and that peers have not acknowledged, as of the last reports.
  public private(set) var unsent = 0

  /// The bytes that peers have sent and that the process has not read, as of the last check.
  public private(set) var unread = 0

  /// Records a message that the ROUTER has received. The first message of a connection also names its
  /// owner, by the key that the peer has proved.
  public mutating func recordReceived(_ message: borrowing Multipart) {
    guard let new = routes.read(message), table.limits.perOwner != nil else { return }
    newOwners[new] = message.userID
  }

  /// Records a message that the ROUTER has passed to libzmq.
  ///
  /// - Parameter bytes: Bytes of the message without its routing id.
  public mutating func recordSent(_ bytes: Int, to route: [UInt8]) { routes.send(bytes, to: route) }

  /// Whether a large message may be queued for the peer: few bytes wait for it. A peer without unsent
  /// bytes always may.
  ///
  /// - Parameter others: Unsent bytes of other sockets, which share the total.
  public mutating func mayQueue(to route: [UInt8], besides others: Int = 0) -> Bool {
    guard let limits = table.queueLimits, let descriptor = routes.descriptor(of: route) else {
      return true
    }
    move(routes.drain(route))
    let bytes = unsent(of: descriptor, reportedAbove: limits.share(total: unsent + others))
    return bytes <= limits.share(total: unsent + others)
  }

  /// The most connection events that one subscription waits for: several of each possible connection.
  private static let eventsBeforeSubscription = 1 << 22

  /// Records the topic to which the XPUB has subscribed the connection, after a message received now.
  public mutating func recordSubscription(of descriptor: Int32?, to topic: [UInt8]) {
    guard let descriptor else { return }
    // An earlier event of the descriptor must not end this subscription, and the queue has those of all
    // connections. A monitor that fails fails again when the owner drains it.
    try? drain(limit: Self.eventsBeforeSubscription)
    subscribers.subscribe(descriptor, to: topic)
  }

  /// Whether a broadcast may be queued for the topic's connections: few bytes wait for each of them. The
  /// bytes of other topics' connections do not matter.
  public mutating func mayPublish(on topic: [UInt8]) -> Bool {
    guard let limit = table.queueLimits?.unsentBroadcasts else { return true }
    for descriptor in subscribers[topic]
    where unsent(of: descriptor, reportedAbove: limit) > limit {
      return false
    }
    return true
  }

  /// Records a broadcast that the XPUB has passed to libzmq.
  public mutating func recordPublished(_ bytes: Int, on topic: [UInt8]) {
    for descriptor in subscribers[topic] {
      move(RouteTable.Moved(descriptor: descriptor, sent: bytes, read: 0))
    }
  }

  /// The unsent bytes of the connection, after a new report if they are above the limit.
  private mutating func unsent(of descriptor: Int32, reportedAbove limit: Int) -> Int {
    let before = table.unsent(of: descriptor)
    // The peer may have read since the last report.
    guard table.isReportDue(descriptor, above: limit),
      let traffic = Self.traffic(of: descriptor, includingLocal: true)
    else { return before }
    table.update(descriptor, traffic, now: MonotonicInstant.now)
    let after = table.unsent(of: descriptor)
    unsent -= before - after
    return after
  }

  private mutating func move(_ moved: RouteTable.Moved?) {
    guard let moved else { return }
    unsent += moved.sent
    table.move(moved.descriptor, sent: moved.sent, read: moved.read)
  }

  private static func traffic(of descriptor: Int32, includingLocal: Bool) -> SocketTraffic? {
    let tcp = czmq_tcp_traffic(descriptor)
    guard tcp.received < 0 else {
      return SocketTraffic(
        received: UInt64(tcp.received), acknowledged: UInt64(clamping: tcp.acknowledged),
        pending: Int(tcp.pending), isBlocked: tcp.is_blocked != 0)
    }
    guard includingLocal else { return nil }
    let local = czmq_unix_traffic(descriptor)
    return SocketTraffic(
      pending: Int(local.pending), isBlocked: local.is_blocked != 0, backlog: Int(local.backlog))
  }

  // MARK: Checks

  /// Closes the connections that exceed their own limits, or those of their owner.
  public mutating func check() {
    for (descriptor, owner) in newOwners { table.setOwner(of: descriptor, owner) }
    newOwners = [:]
    for moved in routes.drain() { move(moved) }
    checks += 1
    // Reports about Unix sockets cost four system calls. Old ones must not fill the total.
    let includingLocal =
      table.queueLimits.map {
        isUnderPressure || checks.isMultiple(of: 4) || unsent > $0.unsentTotal / 4
      } ?? false
    let excessive = table.removeExcessive(now: MonotonicInstant.now) { descriptor in
      Self.traffic(of: descriptor, includingLocal: includingLocal)
    }
    close(excessive)
    (unsent, unread) = (table.unsent, table.unread)
  }

  /// Closes the connections with the longest queues while all of them exceed a total. Precondition:
  /// ``check()`` was called, so that the bytes are those of new reports.
  ///
  /// - Parameter others: Unsent bytes of another guard, which share the total. Its owner passes the bytes
  ///   of this guard to the other one, too.
  public mutating func closeLargest(besides others: Int = 0) {
    close(table.removeLargestQueues(besides: others))
    (unsent, unread) = (table.unsent, table.unread)
  }

  private mutating func close(_ descriptors: [Int32]) {
    for descriptor in descriptors {
      // libzmq may have closed the descriptor meanwhile, and opened a newer connection with it.
      let identity = identities.removeValue(forKey: descriptor)
      if identity?.shutdown(descriptor) ?? false { closedConnections += 1 }
    }
  }

  /// Raises the process's limit of file descriptors to the maximum.
  ///
  /// - Returns: The limit, at most 2²⁰.
  public static func descriptors() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
    let maximum = limit.rlim_max
    if limit.rlim_cur < maximum {
      limit.rlim_cur = maximum
      _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: min(maximum, 1 << 20))
  }
}
