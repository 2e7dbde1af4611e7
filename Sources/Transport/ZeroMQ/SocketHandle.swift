import CZeroMQ

/// The reference to libzmq's socket that a ``Socket``, its thread's poll set and its monitor share,
/// so that a poll set never holds a dangling pointer.
///
/// Unchecked, because only the owning thread accesses `raw`. Other threads may only call
/// `release()`.
final class SocketHandle: @unchecked Sendable {
  private(set) var raw: UnsafeMutableRawPointer?
  let kind: SocketKind
  private var context: Context?
  /// The thread that polls this socket and must close it.
  var thread: SocketThread?
  /// The socket whose events this PAIR socket receives.
  var monitored: SocketHandle? {
    didSet { monitored?.isMonitored = true }
  }
  private var isMonitored = false

  init(_ kind: SocketKind, _ context: Context) throws(ZeroMQError) {
    raw = try context.open(kind)
    self.kind = kind
    self.context = context
  }

  deinit {
    close()
  }

  /// Closes the socket on the thread that polls it, or on the calling thread if none does.
  func release() {
    if let thread = thread ?? monitored?.thread, !thread.isCurrent {
      thread.close(self)
    } else {
      close()
    }
  }

  func close() {
    guard let raw else { return }
    // libzmq's I/O thread blocks forever on a monitor whose reader is closed, so the monitor ends
    // first. A closed socket emits events until the I/O thread has ended its connections.
    for target in [isMonitored ? raw : nil, monitored?.raw] where target != nil {
      zmq_socket_monitor(target, nil, 0)
    }
    self.raw = nil
    zmq_close(raw)
    monitored = nil
    context = nil
  }

  func open(_ operation: String) throws(ZeroMQError) -> UnsafeMutableRawPointer {
    guard let raw else { throw ZeroMQError(.closed, operation) }
    return raw
  }
}

extension SocketHandle {
  func enable(_ option: Int32) throws(ZeroMQError) {
    try set(option, Int32(1))
  }

  func set(_ option: Int32, _ value: Int32) throws(ZeroMQError) {
    var value = value
    let result = zmq_setsockopt(try open("set option"), option, &value, MemoryLayout<Int32>.size)
    if result != 0 { throw .last("set option \(option)") }
  }

  func set(_ option: Int32, _ value: Int64) throws(ZeroMQError) {
    var value = value
    let result = zmq_setsockopt(try open("set option"), option, &value, MemoryLayout<Int64>.size)
    if result != 0 { throw .last("set option \(option)") }
  }

  func set(_ option: Int32, _ value: [UInt8]) throws(ZeroMQError) {
    let result = zmq_setsockopt(try open("set option"), option, value, value.count)
    if result != 0 { throw .last("set option \(option)") }
  }
}
