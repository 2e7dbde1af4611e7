import CZeroMQ
import Synchronization

/// Receives the connection events of one socket, on that socket's thread, and keeps the socket
/// open.
///
/// The owner must drain the monitor. Its queue is unbounded, because a full queue would block
/// libzmq's I/O thread and with it every connection of the process.
public struct Monitor: ~Copyable {
  private static let lastNumber = Atomic<Int>(0)

  /// The PAIR socket. The thread that calls ``drain(limit:_:)`` watches this socket.
  public let socket: Socket
  private var message: Multipart

  /// Starts monitoring. Preconditions: the socket is not bound or connected yet, so that no event
  /// is missed, and has no other monitor.
  /// - Throws: `terminated`, `tooManySockets`, `closed`.
  public init(_ monitored: borrowing Socket, in context: Context) throws(ZeroMQError) {
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    let endpoint = "inproc://monitor.\(number)"
    let target = try monitored.handle.open("monitor")
    var options = SocketOptions()
    options.receiveHighWaterMark = 0
    let socket = try Socket(.pair, in: context, options: options)
    guard zmq_socket_monitor(target, endpoint, ZMQ_EVENT_ALL) == 0 else { throw .last("monitor") }
    socket.handle.monitored = monitored.handle
    try socket.connect(endpoint)
    self.socket = socket
    message = Multipart(maximumParts: 2)
  }

  /// Calls `body` with the queued events, up to `limit`.
  /// - Returns: Whether events may remain.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain(
    limit: Int = 1_000, _ body: (MonitorEvent) -> Void
  ) throws(ZeroMQError) -> Bool {
    for _ in 0..<limit {
      guard try socket.receive(into: &message) == .message else { return false }
      if let event { body(event) }
    }
    return true
  }

  private var event: MonitorEvent? {
    guard message.count == 2 else { return nil }
    let endpoint = message.withBytes(1) { String(decoding: $0, as: UTF8.self) }
    return message.withBytes(0) { bytes in
      guard bytes.count == 6 else { return nil }
      let value = bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self)
      let kind = MonitorEvent.Kind(event: bytes.loadUnaligned(as: UInt16.self), value: value)
      let hasDescriptor = kind == .accepted || kind == .disconnected || kind == .closed
      return MonitorEvent(kind, endpoint: endpoint, descriptor: hasDescriptor ? value : nil)
    }
  }
}
