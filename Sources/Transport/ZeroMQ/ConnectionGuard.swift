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
/// Bytes are counted on TCP only. Peers of a Unix socket have passed the folder's permissions, so
/// only their number is limited.
public struct ConnectionGuard: ~Copyable {
  /// The monitor. The thread that calls ``drain()`` watches the monitor's socket.
  public private(set) var monitor: Monitor
  private var table: ConnectionTable
  /// Number of connections that ``check()`` has closed.
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
  /// - Throws: `closed`, `terminated`.
  public mutating func drain() throws(ZeroMQError) {
    let now = MonotonicInstant.now
    var table = table
    _ = try monitor.drain { event in
      guard let descriptor = event.descriptor else { return }
      if event.kind == .accepted {
        table.accepted(descriptor, now: now)
      } else {
        table.remove(descriptor)
      }
    }
    self.table = table
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
  public mutating func prove(_ descriptor: Int32?, receivedIn epoch: UInt64) {
    if let descriptor { table.prove(descriptor, receivedIn: epoch) }
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

  /// Closes the connections that exceed their limits.
  public mutating func check() {
    let excessive = table.removeExcessive(now: MonotonicInstant.now) { descriptor in
      UInt64(exactly: czmq_bytes_received(descriptor))
    }
    // libzmq may have closed the descriptor meanwhile. Then shutdown fails, or closes a newer
    // connection, which reconnects.
    for descriptor in excessive where Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) == 0 {
      closedConnections += 1
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
