import FamilyModel
import ZeroMQ

/// A shard, its thread and its queue of requests.
///
/// States:
/// - `resting` → `running`: ``wake()``
/// - `running` → `resting`: the queue is empty
/// - `running` → `blocked`: the slice deferred a request
/// - `running` → `stopping`: ``requestRest()``
/// - `stopping` → `resting` or `blocked`: the slice ends
/// - `blocked` → `resting`: ``drainDeferred(_:)``
///
/// The worker's thread owns the shard while `running` or `stopping`, the socket thread in all other
/// states. The shard's lock is therefore never contended. The lock only proves to the compiler what
/// the states guarantee.
final class ShardWorker: Sendable {
  private enum State { case resting, running, stopping, blocked }

  private struct Queue: ~Copyable, Sendable {
    var batch = MessageBatch()
    var completions: [ReadCompletion] = []
    var state = State.resting
    var isBacklogged = false
    var isFull = false
    /// Messages and results inside the shard that the shard has not handled.
    var unhandledCount = 0
    /// Whether the shard has deferred requests.
    var hasDeferred = false

    var waitingCount: Int { unhandledCount + batch.count + completions.count }
  }

  private let queue = Lock(Queue())
  private let shard: Lock<Shard>
  private let thread = WakeableThread()
  private let cameToRest = Semaphore()

  private let clock: @Sendable () -> Instant

  private let defects: Defects

  init(
    _ shard: consuming sending Shard, _ defects: Defects,
    _ clock: @escaping @Sendable () -> Instant
  ) {
    self.shard = Lock(shard, isUncontended: true)
    self.defects = defects
    self.clock = clock
  }

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - committer: Receives the output of each slice.
  ///   - onBlocked: Called on the worker's thread when only the socket thread can serve the
  ///     deferred requests.
  func start(_ committer: Committer, onBlocked: @escaping @Sendable () -> Void) {
    thread.start("shard") { [self] in
      repeat {
        handleSlice { $0.enqueueOutput(at: committer, now: clock(), wakesThread: true) }
      } while keepsRunning(onBlocked)
    }
  }

  /// Ends the thread after the queue is empty or the worker is blocked.
  ///
  /// Precondition: the thread was started.
  func stop() { thread.stop() }

  // MARK: Queue

  /// Moves the message to the end of the queue and leaves an empty one in its place.
  func enqueue(_ message: inout Multipart) { queue.withLock { $0.batch.append(&message) } }

  /// Adds the result of a read.
  func enqueue(_ completion: ReadCompletion) {
    queue.withLock { $0.completions.append(completion) }
  }

  /// Sets whether acknowledgements may be waiting unread; see ``Shard/isBacklogged``. Takes effect
  /// with the next slice.
  func setBacklogged(_ isBacklogged: Bool) {
    queue.withLock { $0.isBacklogged = isBacklogged }
  }

  /// Sets whether the disk is full; see ``Shard/isFull``. Takes effect with the next slice.
  func setFull(_ isFull: Bool) { queue.withLock { $0.isFull = isFull } }

  /// Requests and results of reads that wait. Exact while the worker is at rest.
  var waitingCount: Int { queue.withLock { $0.waitingCount } }

  // MARK: State

  /// Whether the socket thread owns the shard.
  var isAtRest: Bool { queue.withLock { $0.state == .resting || $0.state == .blocked } }

  /// Whether the worker waits until its deferred requests are drained.
  var isBlocked: Bool { queue.withLock { $0.state == .blocked } }

  /// Starts the worker if it rests and its queue is not empty.
  ///
  /// - Returns: Whether the worker was started.
  func wake() -> Bool {
    let wakes = queue.withLock { queue in
      guard queue.state == .resting, queue.waitingCount > 0 else { return false }
      queue.state = .running
      return true
    }
    if wakes { thread.wake() }
    return wakes
  }

  /// Requests the worker to rest after its current slice.
  ///
  /// - Returns: Whether the worker runs. Then the caller must call ``waitUntilAtRest()``.
  func requestRest() -> Bool {
    queue.withLock { queue in
      guard queue.state == .running else { return false }
      queue.state = .stopping
      return true
    }
  }

  /// Blocks until the slice ends.
  ///
  /// Precondition: ``requestRest()`` returned true.
  func waitUntilAtRest() {
    if !defects.has(.sharedShards) { cameToRest.wait() }
  }

  /// When the shard's next timer is due; `fallback` while the worker runs and owns the shard.
  /// Called by the socket thread, which is the only one that wakes workers.
  func deadline(whileRunning fallback: Instant) -> Instant? {
    guard isAtRest else { return fallback }
    return shard.withLock { shard in
      updateFlags(of: &shard)
      return shard.deadline
    }
  }

  // MARK: Shard

  /// Runs `body` with the shard.
  func withShard<R: Sendable>(
    _: borrowing ShardAccess, _ body: (inout Shard) throws -> R
  ) rethrows -> R {
    try shard.withLock { shard in try body(&shard) }
  }

  /// Handles one slice of the queue on the calling thread.
  func handleSlice(_: borrowing ShardAccess) { handleSlice { _ in } }

  /// Runs the timers that are due at `now`.
  func runTimers(_: borrowing ShardAccess, now: Instant) {
    shard.withLock { shard in
      updateFlags(of: &shard)
      shard.runTimers(now: now)
    }
  }

  /// Removes the deferred requests and unblocks the worker.
  ///
  /// - Returns: The requests, in the order of their arrival.
  func drainDeferred(_: borrowing ShardAccess) -> [PendingRequest] {
    queue.withLock { queue in
      queue.hasDeferred = false
      if queue.state == .blocked { queue.state = .resting }
    }
    return shard.withLock { $0.drainDeferred() }
  }

  private func updateFlags(of shard: inout Shard) {
    (shard.isBacklogged, shard.isFull) = queue.withLock { ($0.isBacklogged, $0.isFull) }
  }

  private func handleSlice(finally body: (inout Shard) -> Void) {
    shard.withLock { shard in
      queue.withLock { queue in
        if shard.hasHandledBatch { swap(&queue.batch, &shard.batch) }
        shard.completions += queue.completions
        queue.completions.removeAll(keepingCapacity: true)
        (shard.isBacklogged, shard.isFull) = (queue.isBacklogged, queue.isFull)
      }
      shard.handleSlice(clock)
      body(&shard)
      queue.withLock {
        ($0.unhandledCount, $0.hasDeferred) = (shard.unhandledCount, shard.hasDeferred)
      }
    }
  }

  /// Enters the state that follows a slice.
  ///
  /// - Returns: Whether the thread handles another slice.
  private func keepsRunning(_ onBlocked: () -> Void) -> Bool {
    let sawEmptyQueue = defects.has(.workerSleeps) && waitingCount == 0
    let (before, now) = queue.withLock { queue in
      let before = queue.state
      if queue.hasDeferred {
        queue.state = .blocked
      } else if before == .stopping || queue.waitingCount == 0 || sawEmptyQueue {
        queue.state = .resting
      }
      return (before, queue.state)
    }
    if before == .stopping {
      cameToRest.signal()
    } else if now == .blocked, !defects.has(.silentBlock) {
      onBlocked()
    }
    return now == .running
  }
}
