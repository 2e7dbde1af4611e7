/// The bytes that wait in this process for one connection, in both directions. A pure machine: counts
/// and the kernel's reports in, sizes out.
///
/// On TCP both sizes are exact but for the framing. On a Unix socket the kernel keeps no totals, so the
/// unsent bytes are those since the kernel last had room for more, and the unread bytes are unknown.
/// There, the kernel's backlog shows a peer that floods, and the time since the last message shows a peer
/// that ends none.
///
/// A direction is `moving` → (bytes wait, and the peer reads too little) `stalled` → (the peer reads)
/// `moving`.
struct ConnectionQueues {
  /// Bytes that were sent to libzmq and that the peer has not acknowledged.
  private(set) var unsent = 0
  /// Bytes that the kernel has received and that the process has not read.
  private(set) var unread = 0
  private var acknowledged: UInt64 = 0
  private var received: UInt64 = 0
  /// Bytes that the process has read, and passed to libzmq, since the last report.
  private var (newlyRead, newlySent) = (0, 0)
  private var pending = 0
  private var backlog = 0
  /// When the process has last read a message of a Unix socket's peer, or first checked the
  /// connection; `nil` before, and on TCP.
  private var lastRead: MonotonicInstant?
  /// Since when bytes wait and the peer has not read enough; with the acknowledged bytes of that time.
  private var stalled: (since: MonotonicInstant, acknowledged: UInt64)?

  /// Records bytes that were passed to libzmq.
  mutating func send(_ bytes: Int) {
    unsent += bytes
    newlySent += bytes
  }

  /// Records bytes that the process has read from libzmq.
  mutating func read(_ bytes: Int) { newlyRead += bytes }

  /// Applies a report of the kernel.
  ///
  /// - Parameter wasEmpty: Whether no received message waited at some time since the last report.
  mutating func update(
    _ traffic: SocketTraffic, wasEmpty: Bool, now: MonotonicInstant, _ limits: QueueLimits
  ) {
    if let total = traffic.received {
      // A smaller total is that of another connection with the same descriptor.
      if total >= received { unread += Int(clamping: total - received) }
      // The framing is estimated. An empty queue ends the error.
      unread = wasEmpty ? 0 : max(0, unread - newlyRead)
      received = total
    } else if newlyRead > 0 || lastRead == nil {
      lastRead = now
    }
    if let total = traffic.acknowledged {
      // libzmq passes all that it has to an idle kernel. Bytes that were counted for another connection
      // with the same descriptor would otherwise count for ever.
      let isIdle = newlySent == 0 && traffic.pending == 0 && total == acknowledged
      unsent =
        total < acknowledged || isIdle ? 0 : max(0, unsent - Int(clamping: total - acknowledged))
      acknowledged = total
    } else if !traffic.isBlocked {
      unsent = 0
    }
    (newlyRead, newlySent) = (0, 0)
    updateStall(traffic, limits, now: now)
    (pending, backlog) = (traffic.pending, traffic.backlog)
  }

  /// Whether enough was sent since the last report for another one. On a Unix socket, the unsent bytes
  /// of a peer that reads become zero at a report only.
  var isReportDue: Bool { newlySent >= Self.bytesPerReport }

  private static let bytesPerReport = 1 << 20

  private mutating func updateStall(
    _ traffic: SocketTraffic, _ limits: QueueLimits, now: MonotonicInstant
  ) {
    guard traffic.isBlocked else { return stalled = nil }
    guard let begin = stalled else { return stalled = (now, acknowledged) }
    let hasRead =
      traffic.acknowledged == nil
      ? traffic.pending != pending : acknowledged &- begin.acknowledged >= limits.stallBytes
    if hasRead { stalled = (now, acknowledged) }
  }

  /// Whether the connection exceeds a limit of its own.
  func exceeds(_ limits: QueueLimits, now: MonotonicInstant) -> Bool {
    // Without totals the unsent bytes are an upper bound, which a fast reader may reach, too.
    unsent > limits.unsentMaximum && acknowledged > 0 || unread > limits.unreadMaximum
      || limits.backlog.map { backlog > $0 } ?? false
      || stalled.map { now - $0.since >= limits.stall } ?? false
  }

  /// Whether a Unix socket's peer has completed no message for this time.
  func hasCompletedNothing(for time: Nanoseconds, now: MonotonicInstant) -> Bool {
    lastRead.map { now - $0 >= time } ?? false
  }
}
