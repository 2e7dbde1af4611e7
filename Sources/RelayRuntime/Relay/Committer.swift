import RelayStore
import Synchronization

/// The store, and a thread that commits to it while the relay's thread goes on.
///
/// The store is in use by its thread from `begin(_:)` to `wait()`, and belongs to the relay's thread at all other
/// times. There is one batch on the way at most; who reads meanwhile may have to wait for it, and may find the
/// store as it was before.
final class Committer: Sendable {
  private struct Work {
    var store: any EventStore
    var batch = Batch()
    var failure: StoreError?

    mutating func commit() {
      do throws(StoreError) { try store.commit(batch) } catch { failure = error }
      batch.removeAll()
    }
  }

  private let work: Mutex<Work>
  private let worker = Worker()

  init(_ store: sending any EventStore) { work = Mutex(Work(store: store)) }

  /// Starts the thread; it inherits the caller's mask of signals.
  func start() {
    worker.start("commits") { [self] in work.withLock { $0.commit() } }
  }

  /// Ends the thread, which was started, when it has done its last, and lets the store's file go.
  func stop() {
    worker.stop()
    work.withLock { $0.store.close() }
  }

  /// Whether what was begun is durable, or nothing was.
  var isIdle: Bool { worker.isIdle }

  /// Takes the batch, and makes it durable while the caller goes on; ``wait()`` has to follow.
  func begin(_ batch: inout Batch) {
    work.withLock { swap(&$0.batch, &batch) }
    worker.begin()
  }

  /// Returns when what was begun is durable.
  ///
  /// - Throws: what the store failed with.
  func wait() throws(StoreError) {
    worker.wait()
    if let failure = work.withLock({ $0.failure }) { throw failure }
  }

  /// Makes the batch durable on the caller's thread.
  func commit(_ batch: inout Batch) throws(StoreError) {
    let failure = work.withLock { work in
      swap(&work.batch, &batch)
      work.commit()
      return work.failure
    }
    if let failure { throw failure }
  }

  /// Reads from the store.
  func read<R: Sendable>(_ body: @Sendable (any EventStore) throws(StoreError) -> R)
    throws(StoreError) -> R
  {
    let result = work.withLock { work in Result { () throws(StoreError) in try body(work.store) } }
    return try result.get()
  }
}
