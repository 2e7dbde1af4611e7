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
  func signal() {
    sem_post(raw)
    #if DEBUG
      ThreadScheduling.current?.hasChanged()
    #endif
  }

  /// Blocks until a signal arrives and consumes the signal.
  func wait() {
    #if DEBUG
      if let scheduler = ThreadScheduling.current {
        scheduler.mayYield()
        while sem_trywait(raw) != 0 { scheduler.block() }
        return
      }
    #endif
    // A POSIX signal interrupts the wait with EINTR.
    while sem_wait(raw) != 0 {}
  }
}
