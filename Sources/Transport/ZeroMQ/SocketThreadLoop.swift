import CZeroMQ
import Glibc

/// The state of a ``SocketThread`` that other threads change. Guarded by the thread's mutex.
struct SocketThreadInbox {
  var jobs: [UnownedJob] = []
  var closing: [SocketHandle] = []
  var sleeping = false
  var stopping = false
  /// Whether a thread has requested a turn.
  var isTurnRequested = false
  /// Whether the thread has ended. Jobs then run on short-lived threads, one at a time.
  var ended = false
  /// Whether a short-lived thread runs jobs.
  var isDraining = false

  /// Begins a turn, which handles all that was handed over before.
  ///
  /// - Returns: Whether the thread ends instead.
  mutating func beginTurn() -> Bool {
    isTurnRequested = false
    return stopping
  }

  /// Decides whether the thread sleeps after a turn. The caller holds the lock, so that a thread with a
  /// later job sees the sleeping thread and wakes it.
  mutating func fallAsleep() -> Bool {
    sleeping = jobs.isEmpty && closing.isEmpty && !stopping && !isTurnRequested
    return sleeping
  }

  /// Requests a turn.
  ///
  /// - Returns: Whether the caller must wake the thread.
  mutating func requestTurn() -> Bool {
    isTurnRequested = true
    return claimWakeUp()
  }

  /// Whether the caller must wake the thread. Only the first caller after the thread fell asleep
  /// must.
  mutating func claimWakeUp() -> Bool {
    defer { sleeping = false }
    return sleeping
  }

  /// Whether the caller must start a short-lived thread for the jobs.
  mutating func claimDrain() -> Bool {
    guard ended, !isDraining else { return false }
    isDraining = true
    return true
  }
}

/// The state of a ``SocketThread`` that only the thread itself accesses.
final class SocketThreadLoop {
  var poller = Poller()
  var handlers: [Poller.Token: () -> Void] = [:]
  var watched: [Poller.Token: SocketHandle] = [:]
  var turns: [(number: Int, handler: (MonotonicInstant) -> MonotonicInstant?)] = []
  var lastTurn = 0
  var jobs: [UnownedJob] = []
  var readable: [Poller.Token] = []
  var hasEnded = false
  let wakeupToken: Poller.Token

  init(wakeup: Int32) {
    wakeupToken = poller.watch(fileDescriptor: wakeup)
  }

  func forget(_ token: Poller.Token) {
    poller.unwatch(token)
    handlers[token] = nil
    watched.removeValue(forKey: token)?.thread = nil
  }
}

extension SocketThread {
  func run() {
    identity.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      runJobs()
      if inbox.withLock({ $0.beginTurn() }) { break }
      let deadline = runTurnHandlers()
      let sleeps = inbox.withLock { $0.fallAsleep() }
      sleep(within: sleeps ? deadline.map(Self.time(until:)) : .zero)
      runReadableHandlers()
    }
    loop.hasEnded = true
    closeAll()
    inbox.withLock { inbox in
      inbox.ended = true
      inbox.isDraining = true
    }
    drainJobs()
  }

  /// Runs jobs and closes sockets after the thread's end, until the inbox is empty.
  func drainJobs() {
    identity.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      runJobs()
      let done = inbox.withLock { inbox in
        guard inbox.jobs.isEmpty, inbox.closing.isEmpty else { return false }
        inbox.isDraining = false
        // Under the lock, so that the next thread writes its identity afterwards.
        identity.store(0, ordering: .relaxed)
        return true
      }
      if done { return }
    }
  }

  private func runJobs() {
    var ran = 0
    while ran < Self.maximumJobsPerTurn {
      var closing: [SocketHandle] = []
      inbox.withLock { inbox in
        swap(&inbox.jobs, &loop.jobs)
        swap(&inbox.closing, &closing)
      }
      for handle in closing { handle.close() }
      if loop.jobs.isEmpty { return }
      // Jobs never access `loop.jobs`, so the two buffers are swapped without allocations.
      let executor = asUnownedSerialExecutor()
      for job in loop.jobs { job.runSynchronously(on: executor) }
      ran += loop.jobs.count
      loop.jobs.removeAll(keepingCapacity: true)
    }
  }

  /// The earliest deadline of all turn handlers; `nil` without deadlines.
  private func runTurnHandlers() -> MonotonicInstant? {
    guard !loop.turns.isEmpty else { return nil }
    let now = MonotonicInstant.now
    var earliest = MonotonicInstant.distantFuture
    // Iterates over a copy of the array, because a handler may add and remove handlers.
    for turn in loop.turns { earliest = min(earliest, turn.handler(now) ?? .distantFuture) }
    return earliest < .distantFuture ? earliest : nil
  }

  private func sleep(within timeout: Nanoseconds?) {
    do throws(ZeroMQError) {
      _ = try loop.poller.wait(within: timeout)
    } catch {
      // The context was terminated. The wake-up descriptor stays usable.
      guard error.code == .terminated else { fatalError("\(error)") }
      closeAll()
    }
    inbox.withLock { $0.sleeping = false }
    // Closed sockets need no `unwatch`.
    for token in loop.poller.dropped { loop.forget(token) }
  }

  private func runReadableHandlers() {
    swap(&loop.readable, &loop.poller.ready)
    for token in loop.readable {
      if token == loop.wakeupToken {
        var count: UInt64 = 0
        _ = read(wakeup, &count, 8)
      } else if let handler = loop.handlers[token] {
        // A handler may unwatch others that are ready too; the lookup does not find those.
        handler()
      }
    }
  }

  private func closeAll() {
    let handles = loop.watched
    loop.watched = [:]
    loop.turns = []
    for (token, _) in loop.handlers { loop.poller.unwatch(token) }
    loop.handlers = [:]
    for handle in handles.values { handle.close() }
  }

  /// The time until the deadline, bounded because the loop computes deadlines again afterwards.
  private static func time(until deadline: MonotonicInstant) -> Nanoseconds {
    min(deadline - .now, .seconds(3_600))
  }
}
