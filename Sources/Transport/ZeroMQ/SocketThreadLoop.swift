import CZeroMQ
import Glibc

/// What other threads hand to a ``SocketThread``.
struct SocketThreadInbox {
  var jobs: [UnownedJob] = []
  var closing: [SocketHandle] = []
  var sleeping = false
  var stopping = false
  /// Whether somebody wants the turn handlers to be called.
  var turnWanted = false
  /// After the end: jobs run on short-lived threads, one at a time.
  var ended = false
  var lateRunning = false

  /// Whether the caller must wake the thread; only the first after it fell asleep must.
  mutating func takeSleeping() -> Bool {
    defer { sleeping = false }
    return sleeping
  }

  /// Whether the caller must start a short-lived thread.
  mutating func takeLate() -> Bool {
    guard ended, !lateRunning else { return false }
    lateRunning = true
    return true
  }
}

/// What only the thread itself touches.
final class SocketThreadLoop {
  var poller = Poller()
  var handlers: [Poller.Token: () -> Void] = [:]
  var watched: [Poller.Token: SocketHandle] = [:]
  var turns: [(number: Int, handler: (UInt64) -> UInt64?)] = []
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
      let isOver = inbox.withLock { inbox in
        inbox.turnWanted = false
        return inbox.stopping
      }
      if isOver { break }
      let deadline = runTurnHandlers()
      // Decided under the lock: whoever adds a job later sees that we sleep, and wakes us.
      let busy = inbox.withLock { inbox in
        inbox.sleeping =
          inbox.jobs.isEmpty && inbox.closing.isEmpty && !inbox.stopping && !inbox.turnWanted
        return !inbox.sleeping
      }
      sleep(milliseconds: busy ? 0 : Self.milliseconds(until: deadline))
      runReadableHandlers()
    }
    loop.hasEnded = true
    closeAll()
    inbox.withLock { inbox in
      inbox.ended = true
      inbox.lateRunning = true
    }
    runLate()
  }

  /// Runs what is left, until nothing is.
  func runLate() {
    identity.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      runJobs()
      let done = inbox.withLock { inbox in
        guard inbox.jobs.isEmpty, inbox.closing.isEmpty else { return false }
        inbox.lateRunning = false
        // Within the lock: the next thread writes its own identity after this.
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
      // Jobs may not touch `loop.jobs`, so the buffer goes back and forth without allocations.
      let executor = asUnownedSerialExecutor()
      for job in loop.jobs { job.runSynchronously(on: executor) }
      ran += loop.jobs.count
      loop.jobs.removeAll(keepingCapacity: true)
    }
  }

  /// The earliest deadline that a turn handler asks for; `UInt64.max` is none.
  private func runTurnHandlers() -> UInt64 {
    guard !loop.turns.isEmpty else { return .max }
    let now = Monotonic.now()
    var earliest = UInt64.max
    // A copy of the array: a handler may add and remove handlers.
    for turn in loop.turns { earliest = min(earliest, turn.handler(now) ?? .max) }
    return earliest
  }

  private func sleep(milliseconds: Int) {
    do throws(ZeroMQError) {
      _ = try loop.poller.wait(milliseconds: milliseconds)
    } catch {
      // The context was terminated under us; the wake-up descriptor stays.
      guard error.code == .terminated else { fatalError("\(error)") }
      closeAll()
    }
    inbox.withLock { $0.sleeping = false }
    // Whoever drops a socket need not unwatch it.
    for token in loop.poller.dropped { loop.forget(token) }
  }

  private func runReadableHandlers() {
    swap(&loop.readable, &loop.poller.ready)
    for token in loop.readable {
      if token == loop.wakeupToken {
        var count: UInt64 = 0
        _ = read(wakeup, &count, 8)
      } else if let handler = loop.handlers[token] {
        // A handler may unwatch others that are ready too: those are not found any more.
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

  private static func milliseconds(until deadline: UInt64) -> Int {
    guard deadline != .max else { return -1 }
    let now = Monotonic.now()
    guard deadline > now else { return 0 }
    // Rounded up: to wake before the deadline would mean to spin until it.
    return Int(min((deadline - now + 999_999) / 1_000_000, 3_600_000))
  }
}
