public import Credentials
public import FamilyModel
public import Logging
public import RelayPipeline
public import RelayStore
public import ServiceLifecycle
import SystemClock
package import ZeroMQ

/// A relay: a ``Pipeline`` between two sockets and a store.
///
/// States:
/// - `created` → `running`: ``run()``
/// - `running` → `stopped`: graceful shutdown; every received request is committed first
/// - `running` → `failed`: the store or a socket fails
public actor RelayService: Service {
  /// The endpoints and sizes of a relay.
  public struct Configuration: Sendable {
    /// The endpoint for requests.
    public var requests: String
    /// The endpoint for broadcasts.
    public var broadcasts: String
    /// Connections of each of the two sockets; `nil` for as many as the process's file descriptors
    /// allow.
    public var maxConnections: Int?
    /// The bytes that may wait for peers and from them.
    package var queues = QueueLimits()
    /// The sizes of the pipeline.
    public var pipeline = PipelineConfiguration()
    /// The configuration of a relay at these endpoints, with default sizes.
    public init(requests: String, broadcasts: String) {
      self.requests = requests
      self.broadcasts = broadcasts
    }
  }

  private nonisolated let thread: SocketThread
  /// The measurements of this relay.
  public nonisolated let meter = RelayMeter()
  /// Copies the store.
  nonisolated let copier: StoreCopier
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  private let configuration: Configuration
  private let keys: RelayKeys
  private let logger: Logger
  private let onReady: @Sendable () -> Void
  private let shutdown = AsyncStream.makeStream(of: Never.self)
  private let sockets: RelaySockets
  private let pipeline: Pipeline
  /// The time between two records of the counters.
  private static let recordInterval = Nanoseconds.milliseconds(200)
  private var nextRecord = MonotonicInstant.machineStart
  private var wasFull = false
  /// The time between two releases of free memory while memory is short.
  private static let releaseInterval = Nanoseconds.seconds(1)
  private var nextRelease = MonotonicInstant.machineStart
  private var lastLevel = MemoryWatch.Level.normal

  /// Creates a relay. The relay listens only after ``run()`` is called.
  ///
  /// - Parameters:
  ///   - store: The store, which this relay alone uses.
  ///   - damaged: The families whose damage the start has found. The relay refuses their requests.
  ///   - trace: Reports durable events; `nil` without a trace.
  ///   - onReady: Called once when both sockets are bound.
  /// - Throws: `ZeroMQError` if the socket thread cannot start; `StoreError` if very many families are
  ///   damaged.
  public init(
    _ configuration: Configuration, keys: RelayKeys, store: sending any EventStore,
    damaged: [FamilyID: StoreError] = [:],
    trace: CommitTrace? = nil, logger: Logger, onReady: @escaping @Sendable () -> Void = {}
  ) throws {
    self.configuration = configuration
    self.keys = keys
    self.logger = logger
    self.onReady = onReady
    thread = try SocketThread(name: "relay")
    sockets = try RelaySockets(thread)
    pipeline = Pipeline(
      configuration.pipeline, keys: keys, store: MeasuredStore(store, meter, trace),
      sockets: sockets, clock: { .now },
      onDamage: { family, error in
        logger.error(
          "a family's records cannot be read; stop the relay and run `relayctl check-store`",
          metadata: ["family": "\(family.rawValue)", "reason": "\(error)"])
      },
      onFailure: { [shutdown, meter] error in
        meter.recordFailure("\(error)")
        logger.critical("the relay stops", metadata: ["reason": "\(error)"])
        shutdown.continuation.finish()
      })
    copier = pipeline.copier
    try pipeline.refuse(damaged)
  }

  /// The bytes of the disk that must stay free.
  nonisolated var reservedBytes: Int { configuration.pipeline.reservedBytes }

  /// Counts since the start.
  public var counters: RelayCounters { pipeline.counters }

  /// Requests a turn of the socket thread, which records the counters. Any thread may call it.
  public nonisolated func requestTurn() { thread.requestTurn() }

  /// Runs until a graceful shutdown, the cancellation of the task, or a failure.
  ///
  /// - Throws: The error of a socket or of the store. Everything that the relay has sent is
  ///   durable.
  public func run() async throws {
    pipeline.start { [thread] in thread.requestTurn() }
    defer {
      pipeline.stopShards()
      thread.stop()
      pipeline.stopCommits()
    }
    try openSockets()
    let shutdown = shutdown
    await withGracefulShutdownHandler {
      for await _ in shutdown.stream {}
    } onGracefulShutdown: {
      shutdown.continuation.finish()
    }
    pipeline.finish()
    logger.notice("stopping", metadata: ["counters": "\(counters)"])
    if let failure = pipeline.failure { throw failure }
  }

  private func openSockets() throws {
    let handlers = RelaySockets.Handlers(
      keys: { [weak self] in self?.assumeIsolated { $0.acceptKeys() } },
      connections: { [weak self] in self?.assumeIsolated { $0.drainConnectionEvents() } },
      subscriptions: { [weak self] in self?.assumeIsolated { $0.drainSubscriptions() } },
      requests: { [weak self] in self?.assumeIsolated { $0.pipeline.drainRequests() } })
    try sockets.open(configuration, keys.keys, handlers)
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } ?? nil }
    logger.notice("running")
    onReady()
  }

  private func acceptKeys() { pipeline.guarded { try sockets.acceptKeys() } }

  private func drainConnectionEvents() {
    pipeline.guarded { try sockets.drainConnectionEvents() }
  }

  /// - Returns: When to call the method again.
  private func turn(_ now: MonotonicInstant) -> MonotonicInstant? {
    let sleep = pipeline.turn(uptime: .milliseconds(now.uptime.milliseconds))
    guard pipeline.failure == nil else { return nil }
    logSpace()
    releaseMemory(now)
    let check = sockets.checkConnections()
    pipeline.counters.closedConnections = sockets.closedConnections
    pipeline.counters.droppedBroadcasts = sockets.droppedBroadcasts
    if now >= nextRecord {
      nextRecord = now + Self.recordInterval
      meter.recordTurn(
        pipeline.counters, pipeline.levels(families: meter.families),
        connections: sockets.connections, queued: sockets.queued)
    }
    let next = sleep.map { MonotonicInstant.now + .milliseconds($0.count) }
    return [next, check].compactMap { $0 }.min()
  }

  /// Applies the level of the memory to the sockets, and returns freed memory to the system. Otherwise
  /// the memory that a flood took would count as used for as long as the relay runs.
  private func releaseMemory(_ now: MonotonicInstant) {
    let level = pipeline.memoryLevel
    sockets.memoryLevel = level
    if level != lastLevel {
      logger.notice("memory in use", metadata: ["level": "\(level)"])
      lastLevel = level
    }
    guard level != .normal, now >= nextRelease else { return }
    nextRelease = now + Self.releaseInterval
    Context.releaseFreeMemory()
  }

  /// Logs that the disk has become full, or has room again.
  private func logSpace() {
    guard pipeline.isFull != wasFull else { return }
    wasFull = pipeline.isFull
    let reserve = "\(configuration.pipeline.reservedBytes >> 20) MB"
    if wasFull {
      logger.error(
        "the disk has less than its reserve: commands are refused with problem 501; make room",
        metadata: ["reserve": "\(reserve)"])
    } else {
      logger.notice("the disk has room again: commands are accepted")
    }
  }

  /// Approves the subscriptions of members' hosts to their inboxes.
  private func drainSubscriptions() {
    pipeline.withShards { access in
      pipeline.guarded {
        try sockets.drainSubscriptions { event in
          guard pipeline.failure == nil else { return nil }
          switch event.kind {
          case .unsubscribe: return nil
          case .foreign:
            recordUnexpectedMessage(from: event.userID)
            return nil
          case .subscribe:
            pipeline.counters.subscriptions += 1
            let inbox = inbox(for: event, access)
            if inbox == nil { pipeline.counters.refusedSubscriptions += 1 }
            return inbox
          }
        }
      }
    }
    pipeline.resumeShards()
  }

  private func inbox(for event: SubscriptionEvent, _ access: borrowing ShardAccess) -> Inbox? {
    let plainKey = configuration.pipeline.plainKey
    guard event.isApprovable,
      let key = event.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes }) ?? plainKey
    else { return nil }
    return pipeline.subscribe(to: event.topic, key: key, access)
  }

  /// Counts a message that no honest agent sends. Logs the 1st, 2nd, 4th, 8th… so that a flood
  /// cannot fill the disk.
  private func recordUnexpectedMessage(from userID: String?) {
    pipeline.counters.unexpectedMessages += 1
    let count = pipeline.counters.unexpectedMessages
    guard count & (count - 1) == 0 else { return }
    logger.warning(
      "unexpected message on the broadcast socket",
      metadata: ["key": "\(userID ?? "none")", "count": "\(count)"])
  }
}
