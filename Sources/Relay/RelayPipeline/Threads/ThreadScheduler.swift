#if DEBUG
  import Glibc

  /// Decides which of a pipeline's threads runs next, so that a test can explore their orders.
  ///
  /// Exists in debug builds only. One thread runs at a time. Threads that no scheduler started are not
  /// affected.
  package protocol ThreadScheduler: AnyObject, Sendable {
    /// Another thread may run before the caller continues.
    func mayYield()
    /// The caller cannot continue before another thread has changed something.
    func block()
    /// The caller has changed something that others may wait for.
    func hasChanged()
    /// The caller starts a thread.
    ///
    /// - Returns: The number of the new thread.
    func threadStarts() -> Int
    /// The calling thread is the thread with this number. Returns when it may run.
    func enter(_ number: Int)
    /// The calling thread ends.
    func leave()
    /// The threads violate a rule.
    func report(_ violation: String)
  }

  /// The scheduler of the calling thread.
  package enum ThreadScheduling {
    private final class Box {
      let scheduler: any ThreadScheduler
      init(_ scheduler: any ThreadScheduler) { self.scheduler = scheduler }
    }

    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      pthread_key_create(&key) { pointer in
        if let pointer { Unmanaged<Box>.fromOpaque(pointer).release() }
      }
      return key
    }()

    /// The scheduler of the calling thread; `nil` if the system schedules the thread.
    package static var current: (any ThreadScheduler)? {
      pthread_getspecific(key).map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue().scheduler }
    }

    /// Lets the scheduler decide when the calling thread runs, for the time of `body`.
    package static func run(
      as number: Int, of scheduler: any ThreadScheduler, _ body: () -> Void
    ) {
      pthread_setspecific(key, Unmanaged.passRetained(Box(scheduler)).toOpaque())
      scheduler.enter(number)
      body()
      scheduler.leave()
    }
  }
#endif
