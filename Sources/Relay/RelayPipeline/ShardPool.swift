import Credentials
package import FamilyModel
import Synchronization

/// All shard workers of a relay.
///
/// Workers run on their own threads until their queues are empty. The socket thread reads or
/// changes a shard only inside ``whileAtRest(_:)`` or ``ifAtRest(_:)``, while no worker runs.
final class ShardPool: Sendable {
  let workers: [ShardWorker]
  /// Scopes of ``whileAtRest(_:)`` and ``ifAtRest(_:)`` that are open. Written by the socket thread
  /// only.
  private let openScopes = Atomic(0)

  init(
    _ configuration: PipelineConfiguration, _ keys: RelayKeys,
    _ clock: @escaping @Sendable () -> Instant
  ) {
    let count = max(1, min(configuration.shards, RelayLimits.maxShards))
    workers = (0..<count).map { number in
      ShardWorker(
        Shard(configuration, keys, number: number, shards: count), configuration.defects, clock)
    }
  }

  /// The worker of the family's shard.
  subscript(family: FamilyID) -> ShardWorker { workers[family.shard(of: workers.count)] }

  /// Whether no worker runs.
  var isAtRest: Bool { workers.allSatisfy { $0.isAtRest } }

  /// Whether a worker waits until the socket thread serves its deferred requests.
  var isBlocked: Bool { workers.contains { $0.isBlocked } }

  /// Requests in the workers' queues. Exact while the pool is at rest.
  var waitingCount: Int { workers.reduce(0) { $0 + $1.waitingCount } }

  /// Brings all workers to rest after their current slices, and runs `body` with access to the
  /// shards.
  ///
  /// The workers stay at rest until ``resume()``. Scopes may be nested.
  func whileAtRest(_ body: (borrowing ShardAccess) throws -> Void) rethrows {
    let stopping = workers.filter { $0.requestRest() }
    for worker in stopping { worker.waitUntilAtRest() }
    try withAccess(body)
  }

  /// Runs `body` with access to the shards if no worker runs.
  ///
  /// - Returns: The result of `body`, or `false` if a worker runs.
  func ifAtRest(_ body: (borrowing ShardAccess) throws -> Bool) rethrows -> Bool {
    guard isAtRest else { return false }
    var result = false
    try withAccess { access in result = try body(access) }
    return result
  }

  /// Wakes every resting worker that has requests in its queue.
  ///
  /// Precondition: no scope of ``whileAtRest(_:)`` or ``ifAtRest(_:)`` is open.
  ///
  /// - Returns: Whether a worker was woken.
  func resume() -> Bool {
    precondition(openScopes.load(ordering: .relaxed) == 0, "shards resumed while accessed")
    return workers.reduce(false) { $1.wake() || $0 }
  }

  private func withAccess(_ body: (borrowing ShardAccess) throws -> Void) rethrows {
    // One thread writes: no atomic read-modify-write is needed.
    let open = openScopes.load(ordering: .relaxed)
    openScopes.store(open + 1, ordering: .relaxed)
    defer { openScopes.store(open, ordering: .relaxed) }
    // The compiler of Swift 6.3.1 ends in release builds if a temporary is borrowed here.
    let access = ShardAccess(self)
    try body(access)
  }
}

/// The socket thread's exclusive access to all shards. Only ``ShardPool`` creates one, and only for
/// the duration of a scope in which no worker runs.
package struct ShardAccess: ~Copyable {
  private let pool: ShardPool

  fileprivate init(_ pool: ShardPool) { self.pool = pool }

  /// Families in memory.
  var familyCount: Int { pool.workers.reduce(0) { $0 + $1.withShard(self) { $0.machine.count } } }

  /// Whether cursors wait to be written.
  var hasUnwrittenCursors: Bool {
    pool.workers.contains { $0.withShard(self) { !$0.cursors.isEmpty } }
  }

  /// Runs `body` with the family's shard.
  func withShard<R: Sendable>(of family: FamilyID, _ body: (inout Shard) throws -> R) rethrows -> R
  {
    try pool[family].withShard(self, body)
  }

  /// Runs `body` with one shard after the other.
  func forEachShard(_ body: (inout Shard) throws -> Void) rethrows {
    for worker in pool.workers { try worker.withShard(self, body) }
  }

  /// Handles one slice of each worker's queue on the calling thread.
  func handleSlices() {
    for worker in pool.workers { worker.handleSlice(self) }
  }

  /// Removes the deferred requests of each shard and passes them to `serve`, in the order of their
  /// arrival.
  func drainDeferred(_ serve: (PendingRequest) -> Void) {
    for worker in pool.workers { worker.drainDeferred(self).forEach(serve) }
  }

  /// Runs the timers that are due at `now`.
  func runTimers(now: Instant) {
    for worker in pool.workers { worker.runTimers(self, now: now) }
  }
}

extension FamilyID {
  /// The number of the family's shard, below `shards`.
  ///
  /// A hash spreads numbers that are consecutive, or that differ by a power of two or by the number
  /// of shards.
  package func shard(of shards: Int) -> Int {
    Int((rawValue.scattered * UInt64(shards)) >> 32)
  }
}
