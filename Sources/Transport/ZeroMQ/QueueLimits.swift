/// The bytes that may wait inside libzmq, in both directions of a listening socket's connections.
///
/// libzmq has no such bounds: its high water marks count messages.
public struct QueueLimits: Sendable, Hashable {
  /// Unsent bytes of one connection above which ``ConnectionGuard/mayQueue(to:besides:)`` is false.
  public var unsent: Int
  /// Unsent bytes of one connection above which ``ConnectionGuard/mayPublish(on:)`` is false. The total
  /// does not change this limit: peers that do not read must not cost others their broadcasts.
  public var unsentBroadcasts: Int
  /// Unsent bytes of one connection above which the connection is closed.
  public var unsentMaximum: Int
  /// Unsent bytes of all connections above which those with the most are closed. Before, each
  /// connection's share for large messages shrinks.
  public var unsentTotal: Int
  /// Received bytes of one connection that the process has not read, above which the connection is
  /// closed.
  public var unreadMaximum: Int
  /// Received bytes of all connections that the process has not read, above which those with the most
  /// are closed.
  public var unreadTotal: Int
  /// Bytes of a Unix socket's peer that wait in the kernel, above which the connection is closed; `nil`:
  /// any number. The kernel counts no received bytes on these sockets, and libzmq reads from a peer
  /// while there is room. So only a peer that sends faster than the process reads has such a backlog.
  public var backlog: Int?
  /// The time after which a peer that does not read is closed while bytes wait for it.
  public var stall: Nanoseconds
  /// Bytes that a peer must read within ``stall`` while bytes wait for it.
  public var stallBytes: UInt64

  /// Creates the limits of a socket.
  public init(
    unsent: Int = 8 << 20, unsentBroadcasts: Int = 1 << 20, unsentMaximum: Int = 32 << 20,
    unsentTotal: Int = 256 << 20, unreadMaximum: Int = 32 << 20, unreadTotal: Int = 128 << 20,
    backlog: Int? = nil, stall: Nanoseconds = .seconds(15), stallBytes: UInt64 = 32 << 10
  ) {
    self.unsent = unsent
    self.unsentBroadcasts = unsentBroadcasts
    self.unsentMaximum = unsentMaximum
    self.unsentTotal = unsentTotal
    self.unreadMaximum = unreadMaximum
    self.unreadTotal = unreadTotal
    self.backlog = backlog
    self.stall = stall
    self.stallBytes = stallBytes
  }

  /// The limits of a process that is short of memory: peers that do not read leave within a second.
  /// A total still admits what one connection may have, because both shrink alike.
  var underPressure: QueueLimits {
    QueueLimits(
      unsent: unsent / 8, unsentBroadcasts: unsentBroadcasts / 8, unsentMaximum: unsentMaximum / 8,
      unsentTotal: unsentTotal / 8, unreadMaximum: unreadMaximum / 4, unreadTotal: unreadTotal / 4,
      backlog: min(backlog ?? .max, Self.backlogUnderPressure), stall: min(stall, .seconds(1)),
      stallBytes: stallBytes)
  }

  /// The limits of a process that may use this much memory; 0: any number. Above a quarter of the memory
  /// for unsent bytes and an eighth for unread ones, connections are closed.
  ///
  /// A total is at least the maximum of one connection, whatever the memory: an honest device may send an
  /// outbox with pictures at once.
  public func within(memory bytes: Int) -> QueueLimits {
    guard bytes > 0 else { return self }
    var limits = self
    limits.unsentTotal = min(unsentTotal, max(unsentMaximum, bytes / 4))
    limits.unreadTotal = min(unreadTotal, max(unreadMaximum, bytes / 8))
    return limits
  }

  /// An eighth of what a kernel holds for a Unix socket by default.
  private static let backlogUnderPressure = 26 << 10

  /// Unsent bytes of one connection above which no large message is queued for it.
  ///
  /// - Parameter total: The unsent bytes of all connections.
  func share(total: Int) -> Int { min(unsent, max(0, unsentTotal - total) / 4) }
}

/// The kernel's report about a connection.
public struct SocketTraffic: Sendable, Hashable {
  /// Bytes received from the peer; `nil` on a Unix socket.
  public var received: UInt64?
  /// Bytes that the peer's machine has acknowledged; `nil` on a Unix socket.
  public var acknowledged: UInt64?
  /// Bytes in the kernel that the peer has not read (Unix) or its machine has not acknowledged (TCP).
  public var pending: Int
  /// Whether the kernel takes no more bytes for this peer at the moment.
  public var isBlocked: Bool
  /// Bytes in the kernel that this process has not received; zero on TCP.
  public var backlog: Int

  /// Creates a report.
  public init(
    received: UInt64? = nil, acknowledged: UInt64? = nil, pending: Int = 0,
    isBlocked: Bool = false, backlog: Int = 0
  ) {
    self.received = received
    self.acknowledged = acknowledged
    self.pending = pending
    self.isBlocked = isBlocked
    self.backlog = backlog
  }
}
