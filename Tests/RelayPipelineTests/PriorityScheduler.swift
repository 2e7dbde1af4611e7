import FamilyModel
import Foundation
import RelayPipeline

/// Runs one thread at a time: always the one with the highest priority that can run.
///
/// The priorities are random, and fall at random points, as in probabilistic concurrency testing
/// (Burckhardt et al., ASPLOS 2010). A seed determines the order of all points.
final class PriorityScheduler: ThreadScheduler, @unchecked Sendable {
  private struct Controlled {
    var priority: Int
    var isBlocked = false
    var hasEnded = false
    let gate = Gate()
  }

  /// Points in one run. A run with more does not end.
  private static let maximumPoints = 40_000

  private let mutex = NSLock()
  private var threads: [Controlled] = []
  private var current = 0
  private var numbers: IDSource
  private var changePoints: Set<Int>
  private var lowest = 0
  private var isOver = false
  private let over = Gate()
  /// The points that the run has passed.
  private(set) var points = 0
  /// The violated rules.
  private(set) var violations: [String] = []

  /// - Parameters:
  ///   - changes: The number of points at which the running thread's priority falls.
  ///   - length: The number of points among which they are drawn.
  init(seed: UInt64, changes: Int, length: Int) {
    numbers = IDSource(seed: seed)
    changePoints = []
    for _ in 0..<changes { changePoints.insert(numbers.below(length)) }
  }

  /// Runs `body` on a thread of its own until it and all threads that it starts have ended, or no
  /// thread can run.
  func run(_ body: @escaping @Sendable () -> Void) {
    let number = threadStarts()
    mutex.withLock {
      current = number
      threads[number].gate.open()
    }
    Thread.detachNewThread { ThreadScheduling.run(as: number, of: self, body) }
    over.pass()
  }

  // MARK: ThreadScheduler

  func threadStarts() -> Int {
    mutex.withLock {
      threads.append(Controlled(priority: 1 + numbers.below(1_000_000)))
      return threads.count - 1
    }
  }

  func enter(_ number: Int) {
    let gate = mutex.withLock { threads[number].gate }
    gate.pass()
  }

  func mayYield() {
    mutex.lock()
    points += 1
    if changePoints.contains(points) {
      lowest -= 1
      threads[current].priority = lowest
    }
    if points > Self.maximumPoints {
      end("the threads run without end")
      mutex.unlock()
      return rest()
    }
    pass()
  }

  func block() {
    mutex.lock()
    threads[current].isBlocked = true
    pass()
  }

  func hasChanged() {
    mutex.withLock { for index in threads.indices { threads[index].isBlocked = false } }
  }

  func leave() {
    mutex.lock()
    threads[current].hasEnded = true
    for index in threads.indices { threads[index].isBlocked = false }
    guard let next = next() else {
      end(nil)
      return mutex.unlock()
    }
    current = next
    let gate = threads[next].gate
    mutex.unlock()
    gate.open()
  }

  func report(_ violation: String) {
    mutex.withLock { if !violations.contains(violation) { violations.append(violation) } }
  }

  // MARK: Private

  /// Lets the next thread run, and returns when the caller may run again. Unlocks the mutex.
  private func pass() {
    let me = current
    guard let next = next() else {
      end("no thread can run")
      mutex.unlock()
      return rest()
    }
    guard next != me else { return mutex.unlock() }
    current = next
    let (gate, mine) = (threads[next].gate, threads[me].gate)
    mutex.unlock()
    gate.open()
    mine.pass()
  }

  private func next() -> Int? {
    threads.indices.filter { !threads[$0].isBlocked && !threads[$0].hasEnded }
      .max { threads[$0].priority < threads[$1].priority }
  }

  private func end(_ violation: String?) {
    if let violation { violations.append(violation) }
    guard !isOver else { return }
    isOver = true
    over.open()
  }

  /// The threads of a run that does not end stay where they are.
  private func rest() { while true { sleep(3_600) } }
}

/// Lets one thread pass for each time that another opens it.
///
/// Unchecked because of the pointer only. The thread sanitizer understands POSIX semaphores.
private final class Gate: @unchecked Sendable {
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(raw, 0, 0) }

  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }

  func open() { sem_post(raw) }

  func pass() { while sem_wait(raw) != 0 {} }
}

extension IDSource {
  /// A number from 0 to `bound` − 1.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
