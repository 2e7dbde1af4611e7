import FamilyModel
import Synchronization
import ZeroMQ

/// A lane, its thread, and the messages that wait for it.
///
/// `resting` → (wake) `working` → (nothing waits) `resting`, or → (something was put aside) `stuck` → (all of it
/// was taken) `resting`; `working` → (ask to rest) `stopping` → (a slice is done) `resting` or `stuck`. While it is
/// working or stopping the lane belongs to its thread, and to the thread of the sockets at all other times. So
/// nobody ever waits for the lane's lock: it says to the compiler what the order of calls does already.
final class ShardWorker: Sendable {
  private enum Pace { case resting, working, stopping, stuck }

  private struct Post: ~Copyable, Sendable {
    var batch = MessageBatch()
    var pace = Pace.resting
    var isBehind = false
    /// What the lane has not handled of the mailbag that it took before, and whether it has put something aside.
    var (left, hasAside) = (0, false)

    var waiting: Int { left + batch.count }
  }

  private let post = Mutex(Post())
  private let shard: Mutex<Shard>
  private let worker = WakeableThread()
  private let hasStopped = Semaphore()

  init(_ shard: consuming sending Shard) { self.shard = Mutex(shard) }

  /// Starts the thread, which hands over what it does, slice by slice, and tells when it is stuck.
  func start(_ committer: Committer, onStuck: @escaping @Sendable () -> Void) {
    worker.start("lane") { [self] in
      repeat { handle { $0.handOver(to: committer, isUrgent: true) } } while goesOn(onStuck)
    }
  }

  /// Ends the thread, which was started, when it has done all that waits, or is stuck.
  func stop() { worker.stop() }

  // MARK: for the thread of the sockets

  /// Takes the message, and leaves an empty one.
  func put(_ message: inout Multipart) { post.withLock { $0.batch.put(&message) } }

  /// Whether acknowledgements may wait unread; holds from the next slice on.
  func note(isBehind: Bool) { post.withLock { $0.isBehind = isBehind } }

  /// Whether the lane is not at work.
  var isAtRest: Bool { post.withLock { $0.pace == .resting || $0.pace == .stuck } }

  /// Whether the lane has put something aside, and waits until it is taken.
  var isStuck: Bool { post.withLock { $0.pace == .stuck } }

  /// Sets the lane to work, if it rests and something waits for it; tells whether it did.
  func wake() -> Bool {
    let wakes = post.withLock { post in
      guard post.pace == .resting, post.waiting > 0 else { return false }
      post.pace = .working
      return true
    }
    if wakes { worker.begin() }
    return wakes
  }

  /// Has the lane stop after its slice; tells whether ``waitUntilAtRest()`` has to follow.
  func askToRest() -> Bool {
    post.withLock { post in
      guard post.pace == .working else { return false }
      post.pace = .stopping
      return true
    }
  }

  func waitUntilAtRest() { hasStopped.wait() }

  /// Messages that wait for the lane, which is at rest.
  var waiting: Int { post.withLock { $0.waiting } }

  // MARK: for who has the lane

  func with<R: Sendable>(_ body: (inout Shard) throws -> R) rethrows -> R {
    try shard.withLock { shard in try body(&shard) }
  }

  /// Handles a slice of what waits.
  func handle(finally body: (inout Shard) -> Void = { _ in }) {
    shard.withLock { shard in
      post.withLock { post in
        if shard.left == 0 { swap(&post.batch, &shard.batch) }
        shard.isBehind = post.isBehind
      }
      shard.work()
      body(&shard)
      post.withLock { ($0.left, $0.hasAside) = (shard.left, shard.hasAside) }
    }
  }

  /// When the clock asks for something.
  var deadline: Instant? { withNews { $0.deadline } }

  /// Does what the clock asks for.
  func tick(_ now: Instant) { withNews { $0.tick(now) } }

  /// The lane, which knows whether it is behind.
  private func withNews<R: Sendable>(_ body: (inout Shard) -> R) -> R {
    with { shard in
      shard.isBehind = post.withLock { $0.isBehind }
      return body(&shard)
    }
  }

  /// Requests that were put aside, for the caller to handle in this order.
  func takeAside() -> [Shard.Request] {
    post.withLock { post in
      post.hasAside = false
      if post.pace == .stuck { post.pace = .resting }
    }
    return shard.withLock { $0.takeAside() }
  }

  /// After a slice.
  private func goesOn(_ onStuck: () -> Void) -> Bool {
    let (before, now) = post.withLock { post in
      let before = post.pace
      if post.hasAside {
        post.pace = .stuck
      } else if before == .stopping || post.waiting == 0 {
        post.pace = .resting
      }
      return (before, post.pace)
    }
    if before == .stopping { hasStopped.signal() } else if now == .stuck { onStuck() }
    return now == .working
  }
}
