import FamilyModel
import SystemClock
import ZeroMQ

extension RelayService {
  /// Sends durable output, serves blocked workers, runs due timers, and receives the requests that
  /// had to wait.
  ///
  /// - Returns: When to call the method again.
  func turn() -> MonotonicInstant? {
    guarded { try sendDurable() }
    if shards.isBlocked { withShards { _ in } }
    let now = Instant.now
    let uptime = Milliseconds.milliseconds(MonotonicInstant.now.uptime.milliseconds)
    if clock.isSetBack(now, uptime: uptime) {
      withShards { access in access.forEachShard { $0.clockSetBack(now) } }
    }
    if let due = deadline, due <= now {
      withShards { access in access.runTimers(now: now) }
    }
    if hasMoreToReceive { drainRequests() } else { resumeShards() }
    guard failure == nil else { return nil }
    let next = deadline.map {
      let sleep = max(.milliseconds(1), min($0 - now, RelayLimits.longestSleep))
      return MonotonicInstant.now + .milliseconds(sleep.count)
    }
    let mayReceive = hasMoreToReceive && !isAtLimit
    return [next, checkConnections(), mayReceive ? MonotonicInstant.now : nil].compactMap { $0 }
      .min()
  }

  /// The earliest deadline of a shard. A running shard runs its own timers; its deadline is read
  /// again soon.
  private var deadline: Instant? {
    let nextCheck = Instant.now + RelayLimits.shardCheckInterval
    return shards.workers.compactMap { $0.deadline(whileRunning: nextCheck) }.min()
  }

  /// Closes connections with excessive traffic.
  ///
  /// - Returns: When to check again; `nil` without connections.
  private func checkConnections() -> MonotonicInstant? {
    let now = MonotonicInstant.now
    if now >= lastConnectionCheck + RelayLimits.connectionCheckInterval {
      lastConnectionCheck = now
      requestGuard?.check()
      broadcastGuard?.check()
      counters.closedConnections =
        (requestGuard?.closedConnections ?? 0) + (broadcastGuard?.closedConnections ?? 0)
    }
    let count = (requestGuard?.count ?? 0) + (broadcastGuard?.count ?? 0)
    return count > 0 ? lastConnectionCheck + RelayLimits.connectionCheckInterval : nil
  }
}
