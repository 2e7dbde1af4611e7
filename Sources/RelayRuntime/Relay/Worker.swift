import Foundation
import Synchronization

/// A thread that does the same work each time that it is told to. Who has told it waits for it before the next
/// time.
final class Worker: Sendable {
  private let begins = Semaphore()
  private let isDone = Semaphore()
  private let isOver = Atomic(false)
  private let isAtRest = Atomic(true)

  /// Whether it has done what it was told to, or was told nothing.
  var isIdle: Bool { isAtRest.load(ordering: .acquiring) }

  /// Starts the thread; it inherits the caller's mask of signals.
  func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      while true {
        begins.wait()
        if isOver.load(ordering: .acquiring) { break }
        work()
        isAtRest.store(true, ordering: .releasing)
        isDone.signal()
      }
      isDone.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Ends the thread, which was started, when it has done its last.
  func stop() {
    isOver.store(true, ordering: .releasing)
    begins.signal()
    isDone.wait()
  }

  /// Has it work while the caller goes on; ``wait()`` has to follow.
  func begin() {
    isAtRest.store(false, ordering: .releasing)
    begins.signal()
  }

  /// Returns when it has done what it was told to.
  func wait() { isDone.wait() }
}
