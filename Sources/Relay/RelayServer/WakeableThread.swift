import Foundation
import Synchronization

/// A thread that does the same work each time that it is told to.
final class WakeableThread: Sendable {
  private let begins = Semaphore()
  private let isDone = Semaphore()
  private let isOver = Atomic(false)

  /// Starts the thread; it inherits the caller's mask of signals.
  func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      while true {
        begins.wait()
        if isOver.load(ordering: .acquiring) { break }
        work()
      }
      isDone.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Ends the thread, which was started, when it has done what it is at.
  func stop() {
    isOver.store(true, ordering: .releasing)
    begins.signal()
    isDone.wait()
  }

  /// Has it work while the caller goes on.
  func begin() { begins.signal() }
}
