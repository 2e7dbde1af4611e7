/// The bytes that wait for and from the connections.
extension ConnectionTable {
  /// The present limits; `nil`: none.
  var queueLimits: QueueLimits? {
    isUnderPressure ? limits.queues?.underPressure : limits.queues
  }

  /// Unsent bytes of all connections.
  var unsent: Int { connections.values.reduce(0) { $0 + $1.queues.unsent } }
  /// Unread bytes of all connections.
  var unread: Int { connections.values.reduce(0) { $0 + $1.queues.unread } }

  /// Unsent bytes of one connection.
  func unsent(of descriptor: Int32) -> Int { connections[descriptor]?.queues.unsent ?? 0 }

  /// Whether another report about the connection is due between two checks.
  ///
  /// - Parameter share: Unsent bytes above which a report is due.
  func isReportDue(_ descriptor: Int32, above share: Int) -> Bool {
    connections[descriptor].map { $0.queues.unsent > share || $0.queues.isReportDue } ?? false
  }

  /// Records bytes that were passed to libzmq and that the process has read.
  mutating func move(_ descriptor: Int32, sent: Int, read: Int) {
    guard let index = connections.index(forKey: descriptor) else { return }
    connections.values[index].queues.send(sent)
    connections.values[index].queues.read(read)
  }

  /// Applies a report of the kernel.
  mutating func update(_ descriptor: Int32, _ traffic: SocketTraffic, now: MonotonicInstant) {
    guard let limits = queueLimits, let index = connections.index(forKey: descriptor) else {
      return
    }
    connections.values[index].queues.update(traffic, wasEmpty: wasEmpty, now: now, limits)
  }

  mutating func exceedsQueues(
    _ descriptor: Int32, _ now: MonotonicInstant, _ traffic: SocketTraffic?
  ) -> Bool {
    guard let limits = queueLimits, let traffic else { return false }
    update(descriptor, traffic, now: now)
    guard let queues = connections[descriptor]?.queues else { return false }
    let isUnfinished =
      isCritical
      && self.limits.unfinished.map { queues.hasCompletedNothing(for: $0, now: now) } ?? false
    return queues.exceeds(limits, now: now) || isUnfinished
  }

  /// Removes the connections with the longest queues while a total is exceeded, down to three quarters
  /// of the total.
  ///
  /// - Parameter others: Unsent bytes of another table, which share the total. Each of the two tables may
  ///   keep half of the three quarters, so that the queues of one never empty the other.
  mutating func removeLargestQueues(besides others: Int = 0) -> [Int32] {
    guard let limits = queueLimits else { return [] }
    return removeLargest(limits.unsentTotal, besides: others) { $0.unsent }
      + removeLargest(limits.unreadTotal, besides: 0) { $0.unread }
  }

  private mutating func removeLargest(
    _ limit: Int, besides others: Int, _ size: (ConnectionQueues) -> Int
  ) -> [Int32] {
    var total = connections.values.reduce(0) { $0 + size($1.queues) }
    guard total + others > limit else { return [] }
    let target = max(limit / 4 * 3 - others, limit / 8 * 3)
    var removed: [Int32] = []
    let order = connections.map { (size($0.value.queues), $0.key) }.sorted { $0 > $1 }
    for (size, descriptor) in order where total > target && size > 0 {
      total -= size
      removed.append(descriptor)
    }
    for descriptor in removed { remove(descriptor) }
    return removed
  }
}
