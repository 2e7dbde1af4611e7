import CZeroMQ
import Glibc

/// Cuts off peers of a listening socket that take more than their share.
///
/// libzmq bounds a frame, and the number of whole messages that wait. It bounds neither the parts of a message
/// nor the bytes that wait: a peer that never ends its message fills the memory, and nobody hears of it. And it
/// accepts connections until there are no file descriptors. So this counts what the kernel received from each
/// peer, and shuts the connection down beneath libzmq, which then drops what was unfinished. A peer that is
/// honest connects again.
///
/// Bytes are counted on TCP. On Unix sockets, whose peers have passed the folder's permissions, only the
/// connections are.
public struct ConnectionGuard: ~Copyable {
  /// The monitor, whose socket is to be watched by the thread that calls ``drain()``.
  public private(set) var monitor: Monitor
  private var table: ConnectionTable
  /// Connections that were cut off so far.
  public private(set) var cut = 0

  /// Guards the socket; make it before the bind, to miss no connection.
  /// - Throws: `terminated`, `tooManySockets`, `closed`.
  public init(
    _ socket: borrowing Socket, in context: Context, limits: ConnectionLimits
  ) throws(ZeroMQError) {
    monitor = try Monitor(socket, in: context)
    table = ConnectionTable(limits)
  }

  /// The connections of now.
  public var count: Int { table.count }

  /// Takes note of who came and who went.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain() throws(ZeroMQError) {
    let now = Monotonic.now()
    var table = table
    _ = try monitor.drain { event in
      guard let descriptor = event.descriptor else { return }
      if event.kind == .accepted {
        table.accepted(descriptor, now: now)
      } else {
        table.gone(descriptor)
      }
    }
    self.table = table
  }

  /// The peer at the descriptor has proved who it is.
  public mutating func prove(_ descriptor: Int32?) {
    if let descriptor { table.prove(descriptor) }
  }

  /// Cuts off who takes too much.
  public mutating func look() {
    let excessive = table.takeExcessive(now: Monotonic.now()) { descriptor in
      UInt64(exactly: czmq_bytes_received(descriptor))
    }
    // A descriptor that libzmq has closed by now is an error here, or a newer connection's, which comes again.
    for descriptor in excessive where Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) == 0 { cut += 1 }
  }

  /// File descriptors that this process may have, after asking for as many as it can get.
  public static func descriptors() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
    let most = limit.rlim_max
    if limit.rlim_cur < most {
      limit.rlim_cur = most
      _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: min(most, 1 << 20))
  }
}
