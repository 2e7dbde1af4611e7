import CZeroMQ
import Glibc
import Synchronization

/// The one thread that owns sockets, and the executor of the actors that use them.
///
/// Each turn runs the waiting jobs, then the turn handlers, then sleeps in `zmq_poll` until a
/// watched socket is readable, a job arrives or a deadline is due, and calls the handlers of what
/// is readable. A handler is synchronous: it drains its socket and decides without a hop.
///
/// An actor uses it like this:
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
/// A started thread lives until ``stop()``, whether or not somebody holds a reference to it.
public final class SocketThread: SerialExecutor {
  /// Names one watched socket, file descriptor or turn handler.
  public struct Registration: Hashable, Sendable {
    enum Kind: Hashable { case poll(Poller.Token), turn(Int) }
    let kind: Kind
  }

  /// How many jobs run before the sockets are looked at again.
  static let maximumJobsPerTurn = 1_024

  let inbox = Mutex(SocketThreadInbox())
  let wakeup: Int32
  /// The thread that runs jobs now; 0 is none.
  let identity = Atomic<UInt>(0)
  // Touched by the thread itself only: every way in checks it.
  nonisolated(unsafe) let loop: SocketThreadLoop
  private let join = Mutex<pthread_t?>(nil)

  /// Starts the thread.
  /// - Parameter name: what debuggers and `top -H` show, up to 15 bytes.
  /// - Throws: `tooManySockets` if there is no file descriptor, `other` if there is no thread.
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
    // Whoever stopped it from within could not wait for it: nobody does any more.
    join.withLock { if let thread = $0 { pthread_detach(thread) } }
    Glibc.close(wakeup)
  }

  /// Ends the thread: closes every watched socket on it, forgets all handlers, runs the jobs that
  /// wait, and blocks until it is gone (on the thread itself it only asks for all this).
  ///
  /// An actor may still be called afterwards: its jobs run one after the other on short-lived
  /// threads, so that no caller waits for ever, and its sockets throw `closed`.
  public func stop() {
    let sleeping = inbox.withLock { inbox in
      inbox.stopping = true
      return inbox.takeSleeping()
    }
    if sleeping { wake() }
    guard !isCurrent else { return }
    join.withLock { thread in
      if let started = thread { pthread_join(started, nil) }
      thread = nil
    }
  }

  /// Has the turn handlers called soon. Any thread may ask for it; it takes a system call only if this one sleeps.
  public func callTurns() {
    let sleeping = inbox.withLock { inbox in
      inbox.turnWanted = true
      return inbox.takeSleeping()
    }
    if sleeping { wake() }
  }

  // MARK: Executor

  /// Runs the job on the thread; called by the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (sleeping, late) = inbox.withLock { inbox in
      inbox.jobs.append(job)
      return (inbox.takeSleeping(), inbox.takeLate())
    }
    // A thread that is awake looks at the inbox before it sleeps: no system call for it.
    if sleeping { wake() }
    if late { startLateThread() }
  }

  /// This executor, for an actor's `unownedExecutor`.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether the caller runs on this thread.
  public var isCurrent: Bool {
    identity.load(ordering: .relaxed) == UInt(pthread_self())
  }

  /// Traps unless the caller runs on this thread; makes `assumeIsolated` work in handlers.
  public func checkIsolated() {
    precondition(isCurrent, "not on the thread that owns the sockets")
  }

  /// Tells the runtime whether the caller runs on this thread.
  public func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  // MARK: Within

  func close(_ handle: SocketHandle) {
    let (sleeping, late) = inbox.withLock { inbox in
      inbox.closing.append(handle)
      return (inbox.takeSleeping(), inbox.takeLate())
    }
    if sleeping { wake() }
    if late { startLateThread() }
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
    // The new thread inherits the mask: signals are for the threads that expect them.
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
    // Full cannot be: the counter is read at every turn. A failed write would lose a wake-up.
    while write(wakeup, &one, 8) < 0, errno == EINTR {}
  }

  private func startLateThread() {
    do {
      pthread_detach(try spawn { $0.runLate() })
    } catch {
      fatalError("\(error)")
    }
  }
}
