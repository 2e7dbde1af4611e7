import Dispatch
import Synchronization
import Testing

@testable import ZeroMQ

@Suite("Socket thread")
struct SocketThreadTests {
  /// Counts without a lock: only the executor keeps it right.
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

    func count(timers: Int, everyMilliseconds: UInt64) {
      var due = Monotonic.now() + everyMilliseconds * 1_000_000
      turns = thread.onTurn { [weak self] now in
        self?.assumeIsolated { counter in
          if now >= due, counter.count < timers {
            counter.count += 1
            due = now + everyMilliseconds * 1_000_000
          }
          return counter.count < timers ? due : nil
        }
      }
    }

    func stopCounting() {
      if let turns { thread.unwatch(turns) }
    }
  }

  @Test("jobs of many threads run one at a time, on the thread")
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

  @Test("a job wakes the thread each time that it sleeps")
  func wakeUps() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let counter = Counter(thread)
    for _ in 0..<200 {
      await counter.increment()
      // Lets the thread fall asleep in between.
      await Task.yield()
    }
    #expect(await counter.count == 200)
  }

  @Test("a turn handler is called at its deadline, again and again, until it is taken out")
  func timers() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let counter = Counter(thread)
    let start = Monotonic.now()
    await counter.count(timers: 5, everyMilliseconds: 3)
    try await eventually { await counter.count == 5 }
    #expect(Monotonic.now() - start >= 15_000_000)
    await counter.stopCounting()
  }

  @Test("the turn handlers are called as soon as another thread wants it, each time")
  func calls() async throws {
    let thread = try SocketThread()
    defer { thread.stop() }
    let turns = Turns(thread)
    await turns.start()
    for _ in 0..<200 {
      // It sleeps, or is about to.
      let before = turns.count.load(ordering: .acquiring)
      thread.callTurns()
      try eventually { turns.count.load(ordering: .acquiring) > before }
    }
  }

  /// Counts its turns, for which no job has to be run.
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

  /// Two ROUTERs: what one receives is answered through the other's queue too.
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

    /// Sockets made elsewhere may be handed to the thread.
    func start() throws -> [String] {
      thread.watch(first) { [weak self] in self?.assumeIsolated { $0.echo($0.first) } }
      thread.watch(second) { [weak self] in self?.assumeIsolated { $0.echo($0.second) } }
      return [try first.bindAnywhere(), try second.bindAnywhere()]
    }

    private func echo(_ socket: borrowing Socket) {
      var message = Multipart()
      while (try? socket.receive(into: &message)) == .message { _ = try? socket.send(message) }
    }

    func send() throws -> SendResult {
      try first.send([[1]])
    }
  }

  @Test("two sockets live on one thread, and close when it stops")
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
    // The endpoints are free: everything is closed.
    let next = try Socket(.router, in: context)
    for endpoint in endpoints {
      try eventually { (try? next.bind(endpoint)) != nil }
    }
    // Its actor can still be called.
    let error = await #expect(throws: ZeroMQError.self) { _ = try await echo.send() }
    #expect(error?.code == .closed)
    thread.stop()
  }

  @Test("an actor that ends elsewhere has its sockets closed on the thread")
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

  @Test("what is watched after the stop is closed at once")
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

  @Test("stopping while jobs pour in loses none of them")
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

  @Test("threads leave nothing behind")
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
