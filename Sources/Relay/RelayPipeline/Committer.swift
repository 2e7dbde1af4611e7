import FamilyModel
import RelayStore

/// The store, and a thread that commits the shards' output in groups.
///
/// Output waits in the order in which shards enqueue it, and one commit writes all that waits.
/// Durable output waits in the same order until the socket thread sends it. After a failed commit
/// nothing more is committed.
///
/// Both queues are bounded by the relay's limit of requests in flight.
final class Committer: Sendable {
  private struct Queue: Sendable {
    var pending: [ShardOutput] = []
    var durable: [ShardOutput] = []
    /// Empty outputs, kept for their memory.
    var spare: [ShardOutput] = []
    /// Whether a thread commits now, or was woken to commit.
    var isCommitting = false
    /// Whether the socket thread waits for the end of that.
    var hasWaiter = false
    var commits = 0
    var failure: StoreError?
  }

  private struct Writer {
    var store: any EventStore
    var batch = Batch()
    var outputs: [ShardOutput] = []
    var isClosed = false
    let defects: Defects

    /// Writes the outputs in one transaction.
    ///
    /// - Returns: Whether there was something to write.
    mutating func commit() throws(StoreError) -> Bool {
      for output in outputs {
        batch.events += output.events
        batch.snapshots += output.snapshots
        batch.passcodeLocks += output.passcodeLocks
        batch.cursors += output.cursors
      }
      guard !batch.isEmpty else { return false }
      defer { batch.removeAll() }
      if defects.has(.earlyCursors) {
        var cursors = Batch()
        swap(&cursors.cursors, &batch.cursors)
        try store.commit(cursors)
      }
      try store.commit(batch)
      return true
    }
  }

  private let queue = Lock(Queue())
  private let writer: Lock<Writer>
  private let defects: Defects
  private let thread = WakeableThread()
  private let isIdle = Semaphore()

  init(_ store: sending any EventStore, _ defects: Defects) {
    writer = Lock(Writer(store: store, defects: defects))
    self.defects = defects
  }

  /// Starts the thread, which inherits the caller's signal mask.
  ///
  /// - Parameter onCommit: Called on the thread after each commit, whether successful or failed.
  func start(onCommit: @escaping @Sendable () -> Void) {
    thread.start("commits") { [self] in commitAll(onCommit) }
  }

  /// Ends the thread after its last commit, and closes the store.
  ///
  /// Precondition: the thread was started.
  func stop() {
    thread.stop()
    writer.withLock { writer in
      writer.isClosed = true
      writer.store.close()
    }
  }

  /// Moves the output to the end of the queue and leaves an empty one in its place.
  ///
  /// - Parameter wakesThread: Whether the thread is woken to commit the output.
  func enqueue(_ output: inout ShardOutput, wakesThread: Bool) {
    queue.withLock { queue in
      var empty = queue.spare.popLast() ?? ShardOutput()
      swap(&empty, &output)
      if defects.has(.earlyReads) { queue.durable.append(empty.removeReads()) }
      queue.pending.append(empty)
    }
    if wakesThread { wake() }
  }

  /// Wakes the thread if output waits and no thread commits.
  func wake() {
    let wakes = queue.withLock { queue in
      guard !queue.isCommitting, !queue.pending.isEmpty else { return false }
      queue.isCommitting = true
      return true
    }
    if wakes { thread.wake() }
  }

  /// Commits the queued output on the calling thread. Returns at once if the commit thread is busy;
  /// it commits the rest.
  func commitOnCallingThread() {
    let isIdle = queue.withLock { queue in
      defer { queue.isCommitting = true }
      return !queue.isCommitting
    }
    if isIdle { commitAll {} }
  }

  /// Commits the queued output. Returns when all of it is durable, or a commit has failed.
  func finish() {
    commitOnCallingThread()
    let mustWait = queue.withLock { queue in
      queue.hasWaiter = queue.isCommitting
      return queue.isCommitting
    }
    if mustWait { isIdle.wait() }
  }

  /// Exchanges `sent` for the durable output, in commit order.
  ///
  /// - Parameter sent: Empty outputs, whose memory is reused. On return the output that became
  ///   durable.
  /// - Returns: The number of commits so far, and the error of a commit that followed the returned
  ///   output.
  func exchange(_ sent: inout [ShardOutput]) -> (commits: Int, failure: StoreError?) {
    queue.withLock { queue in
      queue.spare += sent.prefix(max(0, RelayLimits.spareOutputs - queue.spare.count))
      sent.removeAll(keepingCapacity: true)
      swap(&queue.durable, &sent)
      return (queue.commits, queue.failure)
    }
  }

  /// Opens a reader beside the commits; `nil` if the store has none.
  func openReader() throws(StoreError) -> (any EventReader)? {
    try writer.withLock { writer throws(StoreError) in try writer.store.openReader() }
  }

  /// Where a reader finds the newest durable events. Waits for a commit that is under way.
  func positions(of families: [FamilyID]) -> ReadPositions {
    writer.withLock { $0.store.positions(of: families) }
  }

  /// Reads from the store. Waits for a commit that is under way.
  func read<R: Sendable>(_ body: @Sendable (any EventStore) throws(StoreError) -> R)
    throws(StoreError) -> R
  {
    let result = writer.withLock { writer in
      Result { () throws(StoreError) in try body(writer.store) }
    }
    return try result.get()
  }

  /// Uses the store as ``read(_:)`` does. Any thread may call this at any time.
  ///
  /// - Throws: `io` after ``stop()``.
  func readUnlessClosed<R: Sendable>(
    _ body: @Sendable (any EventStore) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let result = writer.withLock { writer in
      Result { () throws(StoreError) in
        guard !writer.isClosed else { throw .io("the store is closed") }
        return try body(writer.store)
      }
    }
    return try result.get()
  }

  /// Commits until the queue is empty.
  ///
  /// Precondition: the caller has set `isCommitting`.
  private func commitAll(_ onCommit: () -> Void) {
    while writer.withLock({ writer in commitNext(&writer) }) { onCommit() }
  }

  /// - Returns: Whether there was queued output to commit.
  private func commitNext(_ writer: inout Writer) -> Bool {
    let sawEmptyQueue = defects.has(.commitsSleep) && queue.withLock { $0.pending.isEmpty }
    let (hasOutput, hasWaiter) = queue.withLock { queue in
      guard queue.pending.isEmpty || queue.failure != nil || sawEmptyQueue else {
        swap(&queue.pending, &writer.outputs)
        return (true, false)
      }
      defer { queue.hasWaiter = false }
      queue.isCommitting = false
      return (false, queue.hasWaiter)
    }
    if hasWaiter, !defects.has(.waiterSleeps) { isIdle.signal() }
    guard hasOutput else { return false }
    if defects.has(.earlyReplies) { queue.withLock { $0.durable += writer.outputs } }
    let result = Result { () throws(StoreError) in try writer.commit() }
    queue.withLock { queue in
      switch result {
      case .success(let hasCommitted):
        queue.commits += hasCommitted ? 1 : 0
        if !defects.has(.earlyReplies) { queue.durable += writer.outputs }
      case .failure(let failure):
        if defects.has(.failedReplies) { queue.durable += writer.outputs }
        queue.failure = failure
      }
    }
    writer.outputs.removeAll(keepingCapacity: true)
    return true
  }
}
