import CZeroMQ

/// The box of libzmq's socket: shared by a ``Socket``, its thread's watch and its monitor, so that
/// a poll set never holds a dangling pointer.
///
/// Unchecked, because only the thread that owns the socket touches `raw`; other threads may only
/// call `release()`.
final class SocketHandle: @unchecked Sendable {
  private(set) var raw: UnsafeMutableRawPointer?
  let kind: SocketKind
  private var context: Context?
  /// The thread that polls this socket, and must therefore close it.
  var thread: SocketThread?
  /// The socket that this one monitors.
  var monitored: SocketHandle?

  init(_ kind: SocketKind, _ context: Context) throws(ZeroMQError) {
    raw = try context.open(kind)
    self.kind = kind
    self.context = context
  }

  deinit {
    close()
  }

  /// Closes on the thread that polls the socket, or here if none does.
  func release() {
    if let thread = thread ?? monitored?.thread, !thread.isCurrent {
      thread.close(self)
    } else {
      close()
    }
  }

  func close() {
    guard let raw else { return }
    // libzmq's I/O thread blocks for ever on a monitor whose reader is gone: end the monitor first.
    if let target = monitored?.raw { zmq_socket_monitor(target, nil, 0) }
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
