import Synchronization

/// A mutex. In debug builds a ``ThreadScheduler`` decides which thread acquires it next.
struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  /// Whether the states of the owner already exclude every other thread.
  private let isUncontended: Bool

  /// - Parameter isUncontended: Whether two threads never wait for this lock.
  init(_ value: consuming sending Value, isUncontended: Bool = false) {
    mutex = Mutex(value)
    self.isUncontended = isUncontended
  }

  /// Runs `body` with the value, while no other thread has it.
  func withLock<R: ~Copyable, E: Error>(
    _ body: (inout sending Value) throws(E) -> sending R
  ) throws(E) -> sending R {
    #if DEBUG
      if let scheduler = ThreadScheduling.current { return try withLock(scheduler, body) }
    #endif
    return try mutex.withLock(body)
  }

  #if DEBUG
    private func withLock<R: ~Copyable, E: Error>(
      _ scheduler: any ThreadScheduler, _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      scheduler.mayYield()
      defer { scheduler.hasChanged() }
      while true {
        if let result = try mutex.withLockIfAvailable(body) { return result }
        if isUncontended { scheduler.report("two threads use one shard") }
        scheduler.block()
      }
    }
  #endif
}
