import Foundation
import Synchronization

/// A thread that runs the same work once for each wake-up.
final class WakeableThread: Sendable {
  private let wakeups = Semaphore()
  private let hasEnded = Semaphore()
  private let isStopping = Atomic(false)

  /// Starts the thread, which inherits the caller's signal mask.
  func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    #if DEBUG
      let scheduler = ThreadScheduling.current
      let number = scheduler?.threadStarts()
    #endif
    let thread = Thread { [self] in
      #if DEBUG
        if let scheduler, let number {
          return ThreadScheduling.run(as: number, of: scheduler) { runUntilStopped(work) }
        }
      #endif
      runUntilStopped(work)
    }
    thread.name = name
    thread.start()
  }

  private func runUntilStopped(_ work: () -> Void) {
    while true {
      wakeups.wait()
      if isStopping.load(ordering: .acquiring) { break }
      work()
    }
    hasEnded.signal()
  }

  /// Ends the thread after its current work, and waits for its end.
  ///
  /// Precondition: the thread was started.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    wakeups.signal()
    hasEnded.wait()
  }

  /// Runs the work once. Returns at once.
  func wake() { wakeups.signal() }
}
