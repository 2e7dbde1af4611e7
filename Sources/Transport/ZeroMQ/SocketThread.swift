import CZeroMQ
import Glibc
import Synchronization

/// A thread that owns sockets and is the executor of the actors that use them.
///
/// Each turn has four steps:
/// 1. Run the enqueued jobs.
/// 2. Run the turn handlers.
/// 3. Sleep in `zmq_poll` until a watched socket is readable, a job arrives or a deadline is due.
/// 4. Run the handlers of the readable sockets.
///
/// Handlers are synchronous, so draining a socket needs no thread hop. An actor uses the thread
/// like this:
///
/// ```swift
/// actor Echo {
///   private let thread: SocketThread
///   private let router: Socket
///   nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///
///   func start() {
///     thread.watch(router) { [weak self] in self?.assumeIsolated { $0.drain() } }
///   }
/// }
/// ```
///
/// The thread runs until ``stop()``, even without references to this object.
public final class SocketThread: SerialExecutor {
  /// Identifies one watched socket, file descriptor or turn handler.
  public struct Registration: Hashable, Sendable {
    enum Kind: Hashable { case poll(Poller.Token), turn(Int) }
    let kind: Kind
  }

  /// The most jobs that run before the sockets are polled.
  static let maximumJobsPerTurn = 1_024

  let inbox = Mutex(SocketThreadInbox())
  let wakeup: Int32
  /// The thread that currently runs jobs; 0 if no thread does.
  let identity = Atomic<UInt>(0)
  // Owned by the thread: every method that accesses the loop calls `checkIsolated()`.
  nonisolated(unsafe) let loop: SocketThreadLoop
  private let join = Mutex<pthread_t?>(nil)

  /// Starts the thread.
  /// - Parameter name: The name in debuggers and `top -H`, up to 15 bytes.
  /// - Throws: `tooManySockets` if no file descriptor is available, `other` if no thread can be
  ///   created.
  public init(name: String = "sockets") throws(ZeroMQError) {
    wakeup = czmq_wakeup_open()
    guard wakeup >= 0 else { throw .last("start thread") }
    loop = SocketThreadLoop(wakeup: wakeup)
    do throws(ZeroMQError) {
      let started = try spawn { thread in
        czmq_name_thread(name)
        thread.run()
      }
      join.withLock { $0 = started }
    } catch {
      Glibc.close(wakeup)
      throw error
    }
  }

  deinit {
    // A thread that was stopped from within has not been joined.
    join.withLock { if let thread = $0 { pthread_detach(thread) } }
    Glibc.close(wakeup)
  }

  /// Ends the thread: closes its watched sockets, removes all handlers, runs the enqueued jobs, and
  /// joins the thread. On the thread itself, the method only requests the end.
  ///
  /// An actor may still be called afterwards, so that no caller waits forever. Its jobs then run
  /// one after the other on short-lived threads, and its sockets throw `closed`.
  public func stop() {
    let mustWake = inbox.withLock { inbox in
      inbox.stopping = true
      return inbox.claimWakeUp()
    }
    if mustWake { wake() }
    guard !isCurrent else { return }
    join.withLock { thread in
      if let started = thread { pthread_join(started, nil) }
      thread = nil
    }
  }

  /// Requests a turn soon, from any thread. Needs a system call only if this thread sleeps.
  public func requestTurn() {
    if inbox.withLock({ $0.requestTurn() }) { wake() }
  }

  // MARK: Executor

  /// Enqueues a job for the thread. Called by the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The job may release the last reference to this object before the method returns.
    let kept = Unmanaged.passRetained(self)
    defer { kept.release() }
    let (mustWake, mustDrain) = inbox.withLock { inbox in
      inbox.jobs.append(job)
      return (inbox.claimWakeUp(), inbox.claimDrain())
    }
    // A thread that is awake checks the inbox before it sleeps, so it needs no system call.
    if mustWake { wake() }
    if mustDrain { startDrainThread() }
  }

  /// This executor, for an actor's `unownedExecutor`.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether the caller runs on this thread.
  public var isCurrent: Bool {
    identity.load(ordering: .relaxed) == UInt(pthread_self())
  }

  /// Traps unless the caller runs on this thread. Makes `assumeIsolated` work in handlers.
  public func checkIsolated() {
    precondition(isCurrent, "not on the thread that owns the sockets")
  }

  /// Whether the caller runs on this thread, for the Swift runtime.
  public func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  // MARK: Internals

  func close(_ handle: SocketHandle) {
    let (mustWake, mustDrain) = inbox.withLock { inbox in
      inbox.closing.append(handle)
      return (inbox.claimWakeUp(), inbox.claimDrain())
    }
    if mustWake { wake() }
    if mustDrain { startDrainThread() }
  }

  func spawn(_ body: @escaping @Sendable (SocketThread) -> Void) throws(ZeroMQError) -> pthread_t {
    final class Start: Sendable {
      let thread: SocketThread
      let body: @Sendable (SocketThread) -> Void
      init(_ thread: SocketThread, _ body: @escaping @Sendable (SocketThread) -> Void) {
        self.thread = thread
        self.body = body
      }
    }
    let start = Unmanaged.passRetained(Start(self, body))
    var thread = pthread_t()
    // The new thread inherits a mask that blocks all signals, so that other threads handle them.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let result = pthread_create(
      &thread, nil,
      { argument in
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        start.body(start.thread)
        return nil
      }, start.toOpaque())
    guard result == 0 else {
      start.release()
      throw ZeroMQError(.other, "start thread", number: result)
    }
    return thread
  }

  private func wake() {
    var one: UInt64 = 1
    // The counter cannot overflow, because every turn reads it. An interrupted write must be
    // retried, or the wake-up would be lost.
    while write(wakeup, &one, 8) < 0, errno == EINTR {}
  }

  private func startDrainThread() {
    do {
      pthread_detach(try spawn { $0.drainJobs() })
    } catch {
      fatalError("\(error)")
    }
  }
}
