import Glibc

/// A number of signals to wait for, without a look at what other threads do meanwhile.
///
/// Unchecked for the pointer only: POSIX has made it for many threads. It is not Dispatch's, since the thread
/// sanitizer knows this one.
final class Semaphore: @unchecked Sendable {
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(raw, 0, 0) }

  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }

  /// Lets one of those who wait go on, or the next one that comes.
  func signal() { sem_post(raw) }

  /// Waits for a signal that nobody else has taken.
  func wait() {
    // It fails when a signal of the other kind interrupts it.
    while sem_wait(raw) != 0 {}
  }
}
