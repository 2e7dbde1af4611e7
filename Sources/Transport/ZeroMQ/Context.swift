import CZeroMQ
import Synchronization

/// libzmq's I/O threads and the limits that all sockets of one process share.
///
/// Sockets keep their context alive. The context ends when the last socket is closed and the last
/// reference is released, or earlier by ``terminate()``.
public final class Context: Sendable {
  /// The default of `maximumSockets`. A context reserves 8 bytes per socket. libzmq's own default
  /// of 1,023 is too small for a process that hosts many families.
  public static let defaultMaximumSockets: Int32 = 16_384

  private let pointer: Mutex<UnsafeMutableRawPointer?>

  /// Creates a context. Its threads start with the first socket.
  /// - Parameter ioThreads: Number of I/O threads; libzmq's guide recommends one per gigabyte per
  ///   second.
  /// - Parameter maximumSockets: The most sockets that may be open at a time, at least 1.
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

  /// Returns free heap memory to the system. After a burst, the arenas of libzmq's threads keep
  /// much memory that no other thread can use.
  public static func releaseFreeMemory() { malloc_trim(0) }

  /// Makes the process return memory of a megabyte or more to the system as soon as it is free. By
  /// default, that size grows up to 32 MB with each such part.
  public static func returnLargeMemory() { mallopt(M_MMAP_THRESHOLD, 1 << 20) }

  /// Ends the context: open sockets throw `terminated`, new ones are refused.
  ///
  /// Blocks until every socket is closed. Precondition: the calling thread owns no socket.
  public func terminate() {
    let taken = pointer.withLock { pointer in
      defer { pointer = nil }
      return UInt(bitPattern: pointer)
    }
    guard let context = UnsafeMutableRawPointer(bitPattern: taken) else { return }
    while zmq_ctx_term(context) != 0, zmq_errno() == EINTR {}
  }

  /// Opens a socket, which the caller owns.
  func open(_ kind: SocketKind) throws(ZeroMQError) -> UnsafeMutableRawPointer {
    // The lock is held during the call, so that the context cannot end between the check and the
    // use.
    let (made, error) = pointer.withLock { pointer -> (UInt, ZeroMQError?) in
      guard let context = pointer else { return (0, ZeroMQError(.terminated, "open socket")) }
      guard let made = zmq_socket(context, kind.number) else { return (0, .last("open socket")) }
      return (UInt(bitPattern: made), nil)
    }
    if let error { throw error }
    return UnsafeMutableRawPointer(bitPattern: made)!
  }
}
