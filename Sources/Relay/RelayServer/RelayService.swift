public import Credentials
import FamilyCore
import FamilyModel
import Foundation
public import Logging
public import RelayStore
public import ServiceLifecycle
import SystemClock
import ZeroMQ

/// The relay's shell: takes requests in batches, lets the machine decide, makes what it decided durable in
/// one commit, and only then answers and broadcasts.
///
/// `made` → (run) `running` → (graceful shutdown) `stopped`, or → (the store or a socket fails) `failed`.
/// What comes goes from stage to stage, and no stage waits for another: one thread has the sockets; a ``ShardPool`` of
/// threads has lanes, each with some of the families; a ``Committer`` has the store. It comes in and goes out by
/// the thread of the sockets, which takes no more when too much is on its way: that bounds what waits between the
/// stages. With little to do it is all done by that thread. A failed relay sends nothing more, and `run`
/// throws: who does not know what is on the disk must not guess.
public actor RelayService: Service {
  /// Where and how a relay runs.
  public struct Configuration: Sendable {
    /// The endpoint for requests.
    public var requests: String
    /// The endpoint for broadcasts.
    public var broadcasts: String
    /// Families held in memory; the least recently used go first.
    public var maxFamilies = 100_000
    /// Parts of the families that are worked on at the same time.
    public var shards = min(2, max(1, ProcessInfo.processInfo.activeProcessorCount - 2))
    /// Most requests that are received, and not yet answered or left without an answer.
    package var mostRequests = RelayLimits.requests
    /// Most requests that a lane handles before it hands over what they led to.
    package var slice = RelayLimits.slice
    /// Requests that wait from which on the lanes are woken for them.
    package var forkedRequests = RelayLimits.forkedRequests
    /// Connections that each of the two sockets takes; `nil`: what the process's file descriptors allow.
    public var maxConnections: Int?
    /// For measurements of what encryption costs only: no CURVE, nothing sealed, and every sender has
    /// this key, or is the administrator if it says so.
    package var plainKey: [UInt8]?
    /// A relay at these endpoints.
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
  private let context: Context
  private let onReady: @Sendable () -> Void
  private let ending = AsyncStream.makeStream(of: Never.self)

  let shards: ShardPool
  let channelNames: ChannelCipher
  var unprovenReads = UnprovenReadLimit()
  var admission: Admission
  private var zap: ZAPHandler?
  var router: Socket?
  var publisher: Socket?
  var requestGuard: ConnectionGuard?
  var broadcastGuard: ConnectionGuard?
  /// When the connections were looked at, in nanoseconds of `Monotonic`.
  var looked: UInt64 = 0
  var gate = SubscriptionGate()
  var message = Multipart(maximumParts: 4)
  /// Answers to what was refused unread.
  var refusals = ShardOutput()
  /// Requests that were received and have not left, and their bytes.
  var onTheWay = (requests: 0, bytes: 0)
  /// Whether the last look at the requests' socket ended before it was empty.
  var isMoreWaiting = false
  /// The watch of that socket, and whether it waits until some requests have left.
  var (routerWatch, isMuted) = (nil as SocketThread.Registration?, false)
  /// What is durable, on its way to the sockets.
  var durable: [ShardOutput] = []
  var clock = ClockWatch()
  var failure: (any Error)?
  /// What the relay has seen.
  public internal(set) var counters = RelayCounters()

  /// A relay that does nothing until it runs.
  ///
  /// - Parameter onReady: Called once when both sockets are bound.
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
    shards = ShardPool(configuration, keys)
    context = try Context(ioThreads: RelayLimits.ioThreads)
    thread = try SocketThread(name: "relay")
  }

  /// Runs until the service group, or the task, ends.
  ///
  /// - Throws: what a socket or the store failed with. Nothing was sent that is not durable.
  public func run() async throws {
    committer.start { [thread] in thread.callTurns() }
    for worker in shards.workers { worker.start(committer) { [thread] in thread.callTurns() } }
    defer {
      for worker in shards.workers { worker.stop() }
      thread.stop()
      committer.stop()
    }
    try start()
    let ending = ending
    await withGracefulShutdownHandler {
      for await _ in ending.stream {}
    } onGracefulShutdown: {
      ending.continuation.finish()
    }
    shards.rest()
    guarded { try handleAll() }
    flush()
    while failure == nil, shards.workers.contains(where: { $0.with { !$0.cursors.isEmpty } }) {
      for worker in shards.workers { worker.with { $0.cursors.hasten(.now) } }
      flush()
    }
    logger.notice("stopping", metadata: ["counters": "\(counters)"])
    if let failure { throw failure }
  }

  private func start() throws {
    // Before any socket is bound: CURVE without this handler lets every key in unseen.
    let zap = try ZAPHandler(in: context)
    thread.watch(zap.socket) { [weak self] in self?.assumeIsolated { $0.admit() } }
    self.zap = consume zap
    var options = SocketOptions()
    if configuration.plainKey == nil {
      options.security = .server(keys.keys)
      options.zapDomain = "relay"
    }
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = RelayLimits.sendHighWaterMark
    options.receiveHighWaterMark = RelayLimits.receiveHighWaterMark
    let router = try Socket(.router, in: context, options: options)
    options.xpubManual = true
    options.xpubVerboser = true
    options.maximumMessageSize = RelayLimits.subscriptionBytes
    let publisher = try Socket(.xpub, in: context, options: options)
    let connections =
      configuration.maxConnections
      ?? max(16, (ConnectionGuard.descriptors() - RelayLimits.ownDescriptors) / 2)
    let requestGuard = try ConnectionGuard(
      router, in: context, limits: RelayLimits.requests(connections: connections))
    thread.watch(requestGuard.monitor.socket) { [weak self] in
      self?.assumeIsolated { $0.countConnections() }
    }
    let broadcastGuard = try ConnectionGuard(
      publisher, in: context, limits: RelayLimits.broadcasts(connections: connections))
    thread.watch(broadcastGuard.monitor.socket) { [weak self] in
      self?.assumeIsolated { $0.countConnections() }
    }
    try publisher.bind(configuration.broadcasts)
    try router.bind(configuration.requests)
    thread.watch(publisher) { [weak self] in self?.assumeIsolated { $0.drainSubscriptions() } }
    routerWatch = thread.watch(router) { [weak self] in
      self?.assumeIsolated { $0.drainRequests() }
    }
    self.requestGuard = consume requestGuard
    self.broadcastGuard = consume broadcastGuard
    self.router = consume router
    self.publisher = consume publisher
    thread.onTurn { [weak self] _ in self?.assumeIsolated { $0.turn() } ?? nil }
    logger.notice("running")
    onReady()
  }

  /// Every key may connect: what it may do is decided at each request, from the family's roster.
  private func admit() {
    guarded { _ = try zap?.drain { _ in .acceptKey } }
  }

  private func countConnections() {
    guarded {
      try requestGuard?.drain()
      try broadcastGuard?.drain()
    }
  }

  /// Runs the body unless the relay has failed, and fails the relay with it.
  func guarded(_ body: () throws -> Void) {
    guard failure == nil else { return }
    do { try body() } catch {
      failure = error
      logger.critical("the relay stops", metadata: ["reason": "\(error)"])
      ending.continuation.finish()
    }
  }
}
