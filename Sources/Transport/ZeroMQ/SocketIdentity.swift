import CZeroMQ
import Glibc

/// A connection beneath libzmq, however often the kernel reuses its descriptor.
struct SocketIdentity: Hashable {
  /// The number that the kernel gives to one socket only.
  private let cookie: UInt64

  /// The socket that the descriptor names now; `nil` if it names none.
  init?(of descriptor: Int32) {
    cookie = czmq_socket_cookie(descriptor)
    guard cookie != 0 else { return nil }
  }

  /// Shuts this socket down, unless the descriptor names another one by now.
  ///
  /// The duplicate keeps the descriptor's socket, so that another thread cannot put a newer one in its
  /// place between the comparison and the shutdown.
  ///
  /// - Returns: Whether the socket is shut down.
  func shutdown(_ descriptor: Int32) -> Bool {
    let pinned = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard pinned >= 0 else { return false }
    defer { close(pinned) }
    guard SocketIdentity(of: pinned) == self else { return false }
    return Glibc.shutdown(pinned, Int32(SHUT_RDWR)) == 0
  }
}
