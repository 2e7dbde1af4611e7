import CZeroMQ
import Synchronization

/// Receives the events of one socket. It lives on the thread of that socket, and keeps it open.
///
/// Drain it: the queue of events has no limit, because libzmq's I/O thread would block on a full
/// one, and with it every connection of the process.
public struct Monitor: ~Copyable {
  private static let lastNumber = Atomic<Int>(0)

  /// The PAIR socket, to be watched by the thread that calls ``drain(limit:_:)``.
  public let socket: Socket
  private var message: Multipart

  /// Begins to monitor; make it before the socket binds or connects, to miss no event. A socket
  /// has one monitor at a time.
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

  /// Calls `body` with the events that wait, up to `limit`.
  /// - Returns: whether events may be left.
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
