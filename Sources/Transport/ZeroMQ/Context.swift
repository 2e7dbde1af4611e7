import CZeroMQ
import Synchronization

/// libzmq's I/O threads and the limits that all sockets of one process share.
///
/// Sockets keep their context alive. It ends when the last of them is closed and the last
/// reference is gone, or earlier by ``terminate()``.
public final class Context: Sendable {
  /// The default of `maximumSockets`. A context takes 8 bytes for each; libzmq's own default of
  /// 1,023 is too small for a process that hosts many families.
  public static let defaultMaximumSockets: Int32 = 16_384

  private let pointer: Mutex<UnsafeMutableRawPointer?>

  /// Makes a context; its threads start with its first socket.
  /// - Parameters:
  ///   - ioThreads: how many threads move bytes; libzmq's guide counts one per gigabyte per second.
  ///   - maximumSockets: how many sockets may be open at a time, at least 1.
  /// - Throws: `invalidArgument` if a number is out of range.
  public init(
    ioThreads: Int32 = 1, maximumSockets: Int32 = Context.defaultMaximumSockets
  ) throws(ZeroMQError) {
    guard let made = zmq_ctx_new() else { throw .last("new context") }
    guard zmq_ctx_set(made, ZMQ_IO_THREADS, ioThreads) == 0,
      zmq_ctx_set(made, ZMQ_MAX_SOCKETS, maximumSockets) == 0
    else {
      let error = ZeroMQError.last("set context option")
      zmq_ctx_term(made)
      throw error
    }
    pointer = Mutex(made)
  }

  deinit {
    terminate()
  }

  /// Gives memory that is free back to the system. Messages that came faster than they were taken leave
  /// much of it with libzmq's threads, which no other thread uses.
  public static func releaseFreeMemory() { malloc_trim(0) }

  /// Ends the context: sockets that are still open report `terminated`, new ones are refused.
  ///
  /// Blocks until every socket is closed, so never call it on a thread that owns one.
  public func terminate() {
    let taken = pointer.withLock { pointer in
      defer { pointer = nil }
      return UInt(bitPattern: pointer)
    }
    guard let context = UnsafeMutableRawPointer(bitPattern: taken) else { return }
    while zmq_ctx_term(context) != 0, zmq_errno() == EINTR {}
  }

  /// Opens a socket; the caller owns it.
  func open(_ kind: SocketKind) throws(ZeroMQError) -> UnsafeMutableRawPointer {
    // The lock is held, so that the context cannot end between the look and the use.
    let (made, error) = pointer.withLock { pointer -> (UInt, ZeroMQError?) in
      guard let context = pointer else { return (0, ZeroMQError(.terminated, "open socket")) }
      guard let made = zmq_socket(context, kind.number) else { return (0, .last("open socket")) }
      return (UInt(bitPattern: made), nil)
    }
    if let error { throw error }
    return UnsafeMutableRawPointer(bitPattern: made)!
  }
}
