public import Credentials
import FamilyCore
import FamilyModel
import Foundation
public import Logging
public import RelayStore
public import ServiceLifecycle
import SystemClock
import ZeroMQ

/// The relay's shell: receives requests, lets shards handle them, commits their output, and only
/// then sends.
///
/// ## Pipeline
/// 1. The socket thread receives requests and enqueues each one at the ``ShardWorker`` of its
///    family.
/// 2. Each shard worker handles its queue in slices and enqueues each slice's ``ShardOutput`` at
///    the ``Committer``.
/// 3. The committer's thread writes all queued output in one transaction.
/// 4. The socket thread sends the replies and broadcasts of durable output.
///
/// The stages run in parallel. With few requests waiting, the socket thread performs all four steps
/// itself, because waking a thread costs more.
///
/// ## Access to shards
/// A shard defers a request that needs the store, such as a fetch. Its worker then blocks until the
/// socket thread serves the request. The socket thread uses shards only inside
/// ``ShardPool/whileAtRest(_:)``.
///
/// ## Bounds
/// - Requests count as in flight from step 1 to the end of step 4. At
///   ``Configuration/maxRequestsInFlight``, or the bytes of ``RelayLimits``, the socket thread
///   stops receiving. This bounds every queue between the stages.
/// - Requests beyond that wait in libzmq and then in their devices. ``Admission`` sheds questions
///   early.
/// - Sends never block: messages to a peer whose queue is full are dropped.
///
/// ## States
/// - `created` → `running`: ``run()``
/// - `running` → `stopped`: graceful shutdown; every received request is committed first
/// - `running` → `failed`: the store or a socket fails
///
/// After a store failure the relay sends the output that was durable before. Then it sends nothing
/// more, and ``run()`` throws: which events of the failed commit are durable is unknown.
public actor RelayService: Service {
  /// The endpoints and sizes of a relay.
  public struct Configuration: Sendable {
    /// The endpoint for requests.
    public var requests: String
    /// The endpoint for broadcasts.
    public var broadcasts: String
    /// Families in memory. Above it the least recently used families are evicted.
    public var maxFamilies = 100_000
    /// Shards that handle families in parallel, from 1 to 16.
    public var shards = min(2, max(1, ProcessInfo.processInfo.activeProcessorCount - 2))
    /// See ``RelayLimits/requestsInFlight``.
    package var maxRequestsInFlight = RelayLimits.requestsInFlight
    /// See ``RelayLimits/requestsPerSlice``.
    package var requestsPerSlice = RelayLimits.requestsPerSlice
    /// See ``RelayLimits/wakeThreshold``.
    package var wakeThreshold = RelayLimits.wakeThreshold
    /// Connections of each of the two sockets; `nil` for as many as the process's file descriptors
    /// allow.
    public var maxConnections: Int?
    /// A key that every sender is taken to have, for measuring the cost of encryption only. Turns
    /// off CURVE and the sealing of broadcasts. A sender that names device 0 is the administrator.
    package var plainKey: [UInt8]?
    /// The configuration of a relay at these endpoints, with default sizes.
    public init(requests: String, broadcasts: String) {
      self.requests = requests
      self.broadcasts = broadcasts
    }
  }

  nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let configuration: Configuration
  let keys: RelayKeys
  let committer: Committer
  let logger: Logger
  let context: Context
  let onReady: @Sendable () -> Void
  private let shutdown = AsyncStream.makeStream(of: Never.self)

  let shards: ShardPool
  let channelNames: ChannelCipher
  let passes: EnrolmentPass
  var unprovenReads = UnprovenReadLimit()
  var admission: Admission
  var zap: ZAPHandler?
  var router: Socket?
  var publisher: Socket?
  var requestGuard: ConnectionGuard?
  var broadcastGuard: ConnectionGuard?
  /// When the connections were checked last.
  var lastConnectionCheck = MonotonicInstant.machineStart
  var gate = SubscriptionGate()
  var message = Multipart(maximumParts: 4)
  /// Replies to requests that were refused without a shard.
  var refusals = ShardOutput()
  /// Requests that were received and whose output is not sent, and their bytes.
  var inFlight = (requests: 0, bytes: 0)
  /// Whether requests may be waiting in the request socket.
  var hasMoreToReceive = false
  var routerWatch: SocketThread.Registration?
  /// Whether the watch of the request socket is muted, because the limit of requests in flight is
  /// reached.
  private var isRouterMuted = false
  /// Durable output to send. Empty between two sends.
  var durable: [ShardOutput] = []
  var clock = ClockWatch()
  var failure: (any Error)?
  /// Counts since the start.
  public internal(set) var counters = RelayCounters()

  /// Creates a relay. The relay listens only after ``run()`` is called.
  ///
  /// - Parameters:
  ///   - store: The store, which this relay alone uses.
  ///   - onReady: Called once when both sockets are bound.
  /// - Throws: `ZeroMQError` if the socket thread cannot start.
  public init(
    _ configuration: Configuration, keys: RelayKeys, store: sending any EventStore,
    logger: Logger, onReady: @escaping @Sendable () -> Void = {}
  ) throws {
    self.configuration = configuration
    self.keys = keys
    committer = Committer(store)
    self.logger = logger
    self.onReady = onReady
    admission = Admission()
    channelNames = ChannelCipher(secret: keys.channelSecret)
    passes = EnrolmentPass(secret: keys.channelSecret)
    shards = ShardPool(configuration, keys)
    context = try Context(ioThreads: RelayLimits.ioThreads)
    thread = try SocketThread(name: "relay")
  }

  /// Runs until a graceful shutdown, the cancellation of the task, or a failure.
  ///
  /// - Throws: The error of a socket or of the store. Everything that the relay has sent is
  ///   durable.
  public func run() async throws {
    committer.start { [thread] in thread.requestTurn() }
    for worker in shards.workers { worker.start(committer) { [thread] in thread.requestTurn() } }
    defer {
      for worker in shards.workers { worker.stop() }
      thread.stop()
      committer.stop()
    }
    try openSockets()
    let shutdown = shutdown
    await withGracefulShutdownHandler {
      for await _ in shutdown.stream {}
    } onGracefulShutdown: {
      shutdown.continuation.finish()
    }
    shards.whileAtRest { access in finish(access) }
    logger.notice("stopping", metadata: ["counters": "\(counters)"])
    if let failure { throw failure }
  }

  /// Handles and commits all received requests, then writes all cursors.
  private func finish(_ access: borrowing ShardAccess) {
    guarded { try handleWaiting(access) }
    flush(access)
    while failure == nil, access.hasUnwrittenCursors {
      access.forEachShard { $0.cursors.writeNoLater(than: .now) }
      flush(access)
    }
  }

  /// Wakes the shard workers, and mutes the request socket while the limit of requests in flight is
  /// reached.
  ///
  /// Precondition: no access to the shards is open.
  func resumeShards() {
    guard failure == nil else { return }
    if shards.resume() { counters.workerWakeups += 1 }
    guard isRouterMuted != isAtLimit, let routerWatch else { return }
    isRouterMuted = isAtLimit
    thread.mute(routerWatch, isRouterMuted)
  }

  /// Whether the limit of requests in flight is reached.
  var isAtLimit: Bool {
    inFlight.requests >= configuration.maxRequestsInFlight
      || inFlight.bytes >= RelayLimits.bytesInFlight
  }

  /// Runs the body unless the relay has failed. An error of the body fails the relay.
  func guarded(_ body: () throws -> Void) {
    guard failure == nil else { return }
    do { try body() } catch {
      failure = error
      logger.critical("the relay stops", metadata: ["reason": "\(error)"])
      shutdown.continuation.finish()
    }
  }
}
