package import FamilyModel

extension Pipeline {
  /// Sends durable output, serves blocked workers, runs due timers, and receives the requests that
  /// had to wait.
  ///
  /// - Parameter uptime: The time since the machine's start, by a clock that is never set.
  /// - Returns: How long the socket thread may sleep before the next call; `nil`: until a message or a
  ///   requested turn.
  package func turn(uptime: Milliseconds) -> Milliseconds? {
    guarded { try sendDurable() }
    lookAtSpace(uptime: uptime)
    lookAtMemory(uptime: uptime)
    if shards.isBlocked { withShards { _ in } }
    let now = clock()
    if isClockSetBack(now, uptime: uptime) {
      withShards { access in access.forEachShard { $0.clockSetBack(now) } }
    }
    if let due = deadline, due <= now {
      withShards { access in access.runTimers(now: now) }
    }
    if hasMoreToReceive || hasResults { drainRequests() } else { resumeShards() }
    guard failure == nil else { return nil }
    if hasMoreToReceive && !isAtLimit || hasResults && !hasThreads { return .zero }
    return deadline.map { max(.milliseconds(1), min($0 - now, RelayLimits.longestSleep)) }
  }

  /// Whether results of reads, or requests, wait in the shards' queues and no worker handles them.
  private var hasResults: Bool { shards.isAtRest && shards.waitingCount > 0 }

  /// The earliest deadline of a shard. A running shard runs its own timers; its deadline is read
  /// again soon.
  private var deadline: Instant? {
    let nextCheck = clock() + RelayLimits.shardCheckInterval
    return shards.workers.compactMap { $0.deadline(whileRunning: nextCheck) }.min()
  }
}
