import FamilyModel
import RelayStore

/// Reads the store for the shards, on a thread of its own beside the commits.
///
/// States:
/// - `idle` → `submitted`: ``submit(_:)``
/// - `submitted` → `done`: the batch is read, by the thread or by ``perform()``
/// - `done` → `idle`: ``takeResults()``
///
/// One batch is read at a time. A batch ends early after ``RelayLimits/readBytes``, so the results that
/// wait are bounded.
final class StoreReader: Sendable {
  private enum State {
    case idle
    case submitted([StoreRead])
    case done(ReadResults)
  }

  private struct Shared {
    var state = State.idle
    /// Whether the socket thread waits for the end of the batch.
    var hasWaiter = false
  }

  private let shared = Lock(Shared())
  /// The store's reader; `nil`: the reads use the store itself, between its commits. Used by one
  /// thread at a time.
  private let reader: Lock<(any EventReader)?> = Lock(nil)
  private let committer: Committer
  private let sizes: ReadSizes
  private let defects: Defects
  private let thread = WakeableThread()
  private let isDone = Semaphore()

  init(_ committer: Committer, _ sizes: ReadSizes, _ defects: Defects) {
    self.committer = committer
    self.sizes = sizes
    self.defects = defects
  }

  /// Starts the thread.
  ///
  /// - Parameter onDone: Called on the thread after each batch.
  /// - Throws: The store's error. The thread is started nevertheless.
  func start(onDone: @escaping @Sendable () -> Void) throws(StoreError) {
    thread.start("reads") { [self] in
      perform()
      if !defects.has(.silentReads) { onDone() }
    }
    let opened = try committer.openReader()
    reader.withLock { $0 = opened }
  }

  /// Ends the thread after its batch, and closes the reader.
  ///
  /// Precondition: the thread was started.
  func stop() {
    thread.stop()
    reader.withLock { reader in
      reader?.close()
      reader = nil
    }
  }

  /// Gives the batch to the reader.
  ///
  /// Precondition: the reader is idle.
  func submit(_ batch: [StoreRead], wakesThread: Bool) {
    shared.withLock { $0.state = .submitted(batch) }
    if wakesThread { thread.wake() }
  }

  /// The results of the batch; `nil` while the reader is idle or reads.
  func takeResults() -> ReadResults? {
    shared.withLock { shared in
      guard case .done(let results) = shared.state else { return nil }
      shared.state = .idle
      return results
    }
  }

  /// Waits for the end of the batch that the thread reads.
  func waitUntilDone() {
    let mustWait = shared.withLock { shared in
      if case .submitted = shared.state { shared.hasWaiter = true }
      return shared.hasWaiter
    }
    if mustWait { isDone.wait() }
  }

  /// Reads the submitted batch on the calling thread. Does nothing without one.
  func perform() {
    let batch = shared.withLock { shared in
      if case .submitted(let batch) = shared.state { batch } else { [StoreRead]() }
    }
    guard !batch.isEmpty else { return }
    let results = read(batch)
    let hasWaiter = shared.withLock { shared in
      defer { shared.hasWaiter = false }
      shared.state = .done(results)
      return shared.hasWaiter
    }
    if hasWaiter { isDone.signal() }
  }

  private func read(_ batch: [StoreRead]) -> ReadResults {
    let reader = reader.withLock { $0 }
    if let reader { begin(batch, reader) }
    var results = ReadResults()
    var bytes = 0
    for read in batch {
      guard bytes < RelayLimits.readBytes else {
        results.unread.append(read)
        continue
      }
      let result = Result { try perform(read, reader) }
      results.completed.append((read, result.map { $0.0 }))
      bytes += (try? result.get())?.bytes ?? 0
    }
    return results
  }

  /// Finds the newest events. Waits for a commit under way.
  private func begin(_ batch: [StoreRead], _ reader: any EventReader) {
    let families = batch.map(\.family)
    reader.begin(committer.positions(of: families))
  }

  private func perform(_ read: StoreRead, _ reader: (any EventReader)?) throws
    -> (ReadOutcome, bytes: Int)
  {
    if let reader, let found = try? read.perform(reader, sizes) { return found }
    // No commit changes the store meanwhile, so a failure is certain.
    return try committer.read { [sizes] store in
      Result { try read.perform(store, sizes) }
    }.get()
  }
}
