import RelayStore
import Synchronization

/// The store, and a thread that commits to it while the others go on.
///
/// What the lanes have decided waits in the order in which they hand it over; all that waits is one commit. What
/// is durable waits, in the same order, for the thread of the sockets. After a failure nothing more is committed.
final class Committer: Sendable {
  private struct Queue: Sendable {
    var decided: [ShardOutput] = []
    var durable: [ShardOutput] = []
    /// Empty ones, whose memory is used again.
    var spare: [ShardOutput] = []
    /// Whether somebody is at it.
    var isBusy = false
    /// Whether the thread of the sockets waits for the end of that.
    var isAwaited = false
    var commits = 0
    var failure: StoreError?
  }

  private struct Work {
    var store: any EventStore
    var batch = Batch()
    var taken: [ShardOutput] = []

    mutating func commit() throws(StoreError) -> Bool {
      for one in taken {
        batch.events += one.events
        batch.snapshots += one.snapshots
        batch.cursors += one.cursors
      }
      guard !batch.isEmpty else { return false }
      defer { batch.removeAll() }
      try store.commit(batch)
      return true
    }
  }

  private let queue = Mutex(Queue())
  private let work: Mutex<Work>
  private let worker = WakeableThread()
  private let isDone = Semaphore()

  init(_ store: sending any EventStore) { work = Mutex(Work(store: store)) }

  /// Starts the thread, which tells when something is durable, or has failed; it inherits the caller's mask of
  /// signals.
  func start(onDurable: @escaping @Sendable () -> Void) {
    worker.start("commits") { [self] in commitAll(onDurable) }
  }

  /// Ends the thread, which was started, when it has done its last, and lets the store's file go.
  func stop() {
    worker.stop()
    work.withLock { $0.store.close() }
  }

  /// Takes what was decided, and leaves an empty one.
  ///
  /// - Parameter isUrgent: Whether to wake the thread for it, if it sleeps.
  func put(_ outgoing: inout ShardOutput, isUrgent: Bool) {
    queue.withLock { queue in
      var empty = queue.spare.popLast() ?? ShardOutput()
      swap(&empty, &outgoing)
      queue.decided.append(empty)
    }
    if isUrgent { begin() }
  }

  /// Wakes the thread, if it sleeps and something waits for it.
  func begin() {
    let wakes = queue.withLock { queue in
      guard !queue.isBusy, !queue.decided.isEmpty else { return false }
      queue.isBusy = true
      return true
    }
    if wakes { worker.begin() }
  }

  /// Makes durable what was decided, on the caller's thread, unless the other one is at it, which goes on with it.
  func commit() {
    let isMine = queue.withLock { queue in
      defer { queue.isBusy = true }
      return !queue.isBusy
    }
    if isMine { commitAll {} }
  }

  /// Returns when all that was decided is durable, or that has failed.
  func finish() {
    commit()
    let waits = queue.withLock { queue in
      queue.isAwaited = queue.isBusy
      return queue.isBusy
    }
    if waits { isDone.wait() }
  }

  /// Gives what is durable, in its order, for empty ones; and what the store has failed with after that.
  func takeDurable(_ durable: inout [ShardOutput]) -> (commits: Int, failure: StoreError?) {
    queue.withLock { queue in
      queue.spare += durable.prefix(max(0, RelayLimits.spare - queue.spare.count))
      durable.removeAll(keepingCapacity: true)
      swap(&queue.durable, &durable)
      return (queue.commits, queue.failure)
    }
  }

  /// Reads from the store.
  func read<R: Sendable>(_ body: @Sendable (any EventStore) throws(StoreError) -> R)
    throws(StoreError) -> R
  {
    let result = work.withLock { work in Result { () throws(StoreError) in try body(work.store) } }
    return try result.get()
  }

  /// Goes on as long as something waits; who calls it has made it busy.
  private func commitAll(_ onDurable: () -> Void) {
    while work.withLock({ work in commitNext(&work) }) { onDurable() }
  }

  private func commitNext(_ work: inout Work) -> Bool {
    let (goesOn, isAwaited) = queue.withLock { queue in
      guard queue.decided.isEmpty || queue.failure != nil else {
        swap(&queue.decided, &work.taken)
        return (true, false)
      }
      defer { queue.isAwaited = false }
      queue.isBusy = false
      return (false, queue.isAwaited)
    }
    if isAwaited { isDone.signal() }
    guard goesOn else { return false }
    let result = Result { () throws(StoreError) in try work.commit() }
    queue.withLock { queue in
      switch result {
      case .success(let isCommit):
        queue.commits += isCommit ? 1 : 0
        queue.durable += work.taken
      case .failure(let failure): queue.failure = failure
      }
    }
    work.taken.removeAll(keepingCapacity: true)
    return true
  }
}
