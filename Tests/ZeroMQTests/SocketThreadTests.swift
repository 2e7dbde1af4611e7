import Dispatch
import Synchronization
import Testing

@testable import ZeroMQ

@Suite("Socket thread")
struct SocketThreadTests {
  /// Counts without a lock, so that only the executor excludes races.
  private actor Counter {
    nonisolated let thread: SocketThread
    private(set) var count = 0
    private(set) var inTime = true
    private var turns: SocketThread.Registration?
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: SocketThread) {
      self.thread = thread
    }

    func increment() {
      thread.checkIsolated()
      count += 1
    }

    func incrementByHops(_ other: Counter) async {
      await other.increment()
      increment()
    }

    func count(timers: Int, every interval: Nanoseconds) {
      var due = MonotonicInstant.now + interval
      turns = thread.onTurn { [weak self] now in
        self?.assumeIsolated { counter in
          if now >= due, counter.count < timers {
            counter.count += 1
            due = now + interval
          }
          return counter.count < timers ? due : nil
        }
      }
    }

    func stopCounting() {
      if let turns { thread.unwatch(turns) }
    }
  }

  @Test("jobs from many threads run one at a time on the thread")
  func jobs() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let counter = Counter(thread)
    let other = Counter(thread)
    #expect(!thread.isCurrent)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask {
          for _ in 0..<20 { await counter.increment() }
          await counter.incrementByHops(other)
        }
      }
    }
    #expect(await counter.count == 2_100)
    #expect(await other.count == 100)
  }

  @Test("each job wakes a sleeping thread")
  func wakeUps() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let counter = Counter(thread)
    for _ in 0..<200 {
      await counter.increment()
      // The thread falls asleep meanwhile.
      await Task.yield()
    }
    #expect(await counter.count == 200)
  }

  @Test("a turn handler is called at each of its deadlines until it is removed")
  func timers() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let counter = Counter(thread)
    let start = MonotonicInstant.now
    await counter.count(timers: 5, every: .milliseconds(3))
    try await eventually { await counter.count == 5 }
    #expect(MonotonicInstant.now - start >= .milliseconds(15))
    await counter.stopCounting()
  }

  @Test("the turn handlers run after each request from another thread")
  func calls() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let turns = Turns(thread)
    await turns.start()
    for _ in 0..<200 {
      // The thread sleeps or is about to.
      let before = turns.count.load(ordering: .acquiring)
      thread.requestTurn()
      try eventually { turns.count.load(ordering: .acquiring) > before }
    }
  }

  /// Counts its turns without running jobs.
  private actor Turns {
    nonisolated let thread: SocketThread
    nonisolated let count = Atomic(0)
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: SocketThread) { self.thread = thread }

    func start() {
      thread.onTurn { [weak self] _ in
        self?.count.add(1, ordering: .releasing)
        return nil
      }
    }
  }

  /// Two ROUTERs of one actor, each with its own handler.
  private actor Echo {
    nonisolated let thread: SocketThread
    private let first: Socket
    private let second: Socket
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: SocketThread, _ context: Context) throws {
      self.thread = thread
      first = try Socket(.router, in: context)
      second = try Socket(.router, in: context)
    }

    /// Moves sockets that another thread created to this one.
    func start() throws -> [String] {
      thread.watch(first) { [weak self] in self?.assumeIsolated { $0.echo($0.first) } }
      thread.watch(second) { [weak self] in self?.assumeIsolated { $0.echo($0.second) } }
      return [try first.bindToFreePort(), try second.bindToFreePort()]
    }

    private func echo(_ socket: borrowing Socket) {
      var message = Multipart()
      while (try? socket.receive(into: &message)) == .message { _ = try? socket.send(message) }
    }

    func send() throws -> SendResult {
      try first.send([[1]])
    }
  }

  @Test("one thread serves two sockets and closes them when it stops")
  func twoSockets() async throws {
    let thread = try SocketThread()
    let context = try Context()
    let echo = try Echo(thread, context)
    let endpoints = try await echo.start()
    let dealer = try Socket(.dealer, in: context)
    for endpoint in endpoints { try dealer.connect(endpoint) }
    for index in 0..<1_000 { try #expect(dealer.send([[UInt8(index % 256)]]) == .sent) }
    for _ in 0..<1_000 { _ = try dealer.next() }

    thread.stop()
    // The endpoints are free, so every socket is closed.
    let next = try Socket(.router, in: context)
    for endpoint in endpoints {
      try eventually { (try? next.bind(endpoint)) != nil }
    }
    // The actor can still be called.
    let error = await #expect(throws: ZeroMQError.self) { _ = try await echo.send() }
    #expect(error?.code == .closed)
    thread.stop()
  }

  @Test("the thread closes the sockets of an actor that ends on another thread")
  func actorEndsElsewhere() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let context = try Context()
    for _ in 0..<20 {
      var echo: Echo? = try Echo(thread, context)
      let endpoints = try await echo!.start()
      echo = nil
      let next = try Socket(.router, in: context)
      for endpoint in endpoints { try eventually { (try? next.bind(endpoint)) != nil } }
    }
  }

  @Test("a socket that is watched after the stop is closed at once")
  func lateWatch() async throws {
    let thread = try SocketThread()
    let echo = try Echo(thread, Context())
    thread.stop()
    let error = await #expect(throws: ZeroMQError.self) { _ = try await echo.start() }
    #expect(error?.code == .closed)
  }

  @Test("jobs after the stop still run, one at a time")
  func lateJobs() async throws {
    let thread = try SocketThread()
    let counter = Counter(thread)
    thread.stop()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { await counter.increment() } }
    }
    #expect(await counter.count == 100)
  }

  @Test("stopping while jobs arrive loses none of them")
  func stopUnderLoad() async throws {
    for _ in 0..<20 {
      let thread = try SocketThread()
      let counter = Counter(thread)
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<50 {
          group.addTask {
            if index == 25 { thread.stop() }
            await counter.increment()
          }
        }
      }
      #expect(await counter.count == 50)
    }
  }

  @Test("stopped threads release their resources")
  func lifetime() async throws {
    weak var gone: SocketThread?
    do {
      let thread = try SocketThread()
      gone = thread
      let echo = try Echo(thread, Context())
      _ = try await echo.start()
      thread.stop()
    }
    try eventually { gone == nil }
  }
}
