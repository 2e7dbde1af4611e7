import FamilyModel
import RelayPipeline
import ZeroMQ

/// The relay's sockets: a ROUTER for requests, an XPUB for broadcasts, and the guards of their
/// connections. Owned by the socket thread.
final class RelaySockets: PipelineSockets {
  private let context: Context
  private let thread: SocketThread
  private var zap: ZAPHandler?
  private var router: Socket?
  private var publisher: Socket?
  private var requestGuard: ConnectionGuard?
  private var broadcastGuard: ConnectionGuard?
  private var gate = SubscriptionGate()
  private var routerWatch: SocketThread.Registration?
  /// Broadcasts that were dropped because much waits for a connection of their reader.
  private(set) var droppedBroadcasts = 0
  /// When the connections were checked last.
  private var lastCheck = MonotonicInstant.machineStart

  init(_ thread: SocketThread) throws(ZeroMQError) {
    self.thread = thread
    context = try Context(ioThreads: SocketLimits.ioThreads)
  }

  // MARK: PipelineSockets

  func receive(into message: inout Multipart) throws -> ReceiveResult {
    let result = try router!.receive(into: &message)
    if result != .nothing { requestGuard?.recordReceived(message) }
    return result
  }

  func hasReceivedAll() { requestGuard?.settle() }

  var epoch: UInt64 { requestGuard?.epoch ?? 0 }

  func muteRequests(_ isMuted: Bool) {
    if let routerWatch { thread.mute(routerWatch, isMuted) }
  }

  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws -> Bool {
    guard
      try router!.sendPart(route, more: true) == .sent
        && router!.sendPart([], more: true) == .sent
        && router!.sendPart(bytes, more: false) == .sent
    else { return false }
    requestGuard?.recordSent(bytes.count, to: route)
    return true
  }

  func mayReplyWithPage(to route: [UInt8]) -> Bool {
    requestGuard?.mayQueue(to: route, besides: broadcastGuard?.unsent ?? 0) ?? true
  }

  /// Never blocks on a slow peer: its messages are dropped, and its cursor repairs the gap.
  func publish(_ topic: [UInt8], _ frame: [UInt8]) throws {
    guard broadcastGuard?.mayPublish(on: topic) ?? true,
      try publisher!.sendPart(topic, more: true) == .sent
        && publisher!.sendPart(frame, more: false) == .sent
    else { return droppedBroadcasts += 1 }
    broadcastGuard?.recordPublished(topic.count + frame.count, on: topic)
  }

  func prove(_ descriptor: Int32, receivedIn epoch: UInt64) {
    requestGuard?.prove(descriptor, receivedIn: epoch)
  }

  // MARK: Subscriptions

  /// Approves the waiting subscriptions for which `approve` has an inbox, each directly after its
  /// receipt.
  func drainSubscriptions(_ approve: (SubscriptionEvent) -> Inbox?) throws {
    let mayHaveMore = try gate.drain(publisher!) { event in
      guard let inbox = approve(event) else { return nil }
      let epoch = broadcastGuard?.epoch ?? 0
      broadcastGuard?.prove(event.descriptor, receivedIn: epoch, owner: event.userID)
      broadcastGuard?.recordSubscription(of: event.descriptor, to: inbox.bytes)
      return inbox.bytes
    }
    if !mayHaveMore { broadcastGuard?.settle() }
  }

  // MARK: Connections

  /// The connections of both sockets.
  var connections: (requests: Int, broadcasts: Int) {
    (requestGuard?.count ?? 0, broadcastGuard?.count ?? 0)
  }

  /// Connections that were closed for excessive traffic.
  var closedConnections: Int {
    (requestGuard?.closedConnections ?? 0) + (broadcastGuard?.closedConnections ?? 0)
  }

  /// Closes connections with excessive traffic.
  ///
  /// - Returns: When to check again; `nil` without connections.
  func checkConnections() -> MonotonicInstant? {
    let now = MonotonicInstant.now
    if now >= lastCheck + SocketLimits.connectionCheckInterval {
      lastCheck = now
      requestGuard?.check()
      broadcastGuard?.check()
      // Replies and broadcasts share one total.
      requestGuard?.closeLargest(besides: broadcastGuard?.unsent ?? 0)
      broadcastGuard?.closeLargest(besides: requestGuard?.unsent ?? 0)
    }
    return connections != (0, 0) ? lastCheck + SocketLimits.connectionCheckInterval : nil
  }

  /// Accepts every key: each request is authorized by its family's roster. Under pressure, new
  /// connections wait for their next attempt.
  func acceptKeys() throws {
    let decision = isUnderPressure ? ZAPDecision.tryLater : .acceptKey
    _ = try zap?.drain { _ in decision }
  }

  // MARK: Queues

  /// How short of memory the process is. Under pressure, queues are shorter and connections wait.
  var memoryLevel = MemoryWatch.Level.normal {
    didSet {
      guard memoryLevel != oldValue else { return }
      requestGuard?.isUnderPressure = isUnderPressure
      broadcastGuard?.isUnderPressure = isUnderPressure
      requestGuard?.isCritical = memoryLevel == .critical
    }
  }

  private var isUnderPressure: Bool { memoryLevel != .normal }

  /// Bytes that peers have not acknowledged, and bytes of requests that the relay has not read.
  var queued: (unsent: Int, unread: Int) {
    ((requestGuard?.unsent ?? 0) + (broadcastGuard?.unsent ?? 0), requestGuard?.unread ?? 0)
  }

  func drainConnectionEvents() throws {
    try requestGuard?.drain()
    if try router?.waitUntilReadable(within: .zero) == false { requestGuard?.settle() }
    try broadcastGuard?.drain()
    if try publisher?.waitUntilReadable(within: .zero) == false { broadcastGuard?.settle() }
  }

  /// The handlers of the socket thread.
  struct Handlers {
    var keys: () -> Void
    var connections: () -> Void
    var subscriptions: () -> Void
    var requests: () -> Void
  }

  /// Binds both sockets and watches them on the socket thread.
  func open(
    _ configuration: RelayService.Configuration, _ keys: CurveKeyPair, _ handlers: Handlers
  ) throws {
    // The handler comes before the sockets: CURVE without a ZAP handler accepts every key without
    // its identity.
    let zap = try ZAPHandler(in: context)
    thread.watch(zap.socket, onReadable: handlers.keys)
    self.zap = consume zap
    var options = SocketOptions()
    if configuration.pipeline.plainKey == nil {
      options.security = .server(keys)
      options.zapDomain = "relay"
    }
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = SocketLimits.sendHighWaterMark
    options.receiveHighWaterMark = SocketLimits.receiveHighWaterMark
    let router = try Socket(.router, in: context, options: options)
    options.xpubManual = true
    options.xpubVerboser = true
    options.xpubReportsFullQueues = true
    options.maximumMessageSize = SocketLimits.subscriptionBytes
    let publisher = try Socket(.xpub, in: context, options: options)
    let connections =
      configuration.maxConnections
      ?? max(16, (ConnectionGuard.descriptors() - SocketLimits.reservedDescriptors) / 2)
    let queues = configuration.queues.within(memory: configuration.pipeline.memoryLimit)
    requestGuard = try watch(
      router, SocketLimits.requests(connections: connections, queues), handlers)
    broadcastGuard = try watch(
      publisher, SocketLimits.broadcasts(connections: connections, queues), handlers)
    try publisher.bind(configuration.broadcasts)
    try router.bind(configuration.requests)
    thread.watch(publisher, onReadable: handlers.subscriptions)
    routerWatch = thread.watch(router, onReadable: handlers.requests)
    self.router = consume router
    self.publisher = consume publisher
  }

  private func watch(
    _ socket: borrowing Socket, _ limits: ConnectionLimits, _ handlers: Handlers
  ) throws -> ConnectionGuard {
    let guarding = try ConnectionGuard(socket, in: context, limits: limits)
    thread.watch(guarding.monitor.socket, onReadable: handlers.connections)
    return guarding
  }
}
