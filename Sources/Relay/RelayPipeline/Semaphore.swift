import Glibc

/// A counting semaphore of POSIX.
///
/// Unchecked because of the pointer only: POSIX semaphores are made for concurrent use. The thread
/// sanitizer understands them, unlike Dispatch's.
final class Semaphore: @unchecked Sendable {
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(raw, 0, 0) }

  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }

  /// Releases one waiting thread, or the next one that waits.
  func signal() { sem_post(raw) }

  /// Blocks until a signal arrives and consumes the signal.
  func wait() {
    // A POSIX signal interrupts the wait with EINTR.
    while sem_wait(raw) != 0 {}
  }
}
