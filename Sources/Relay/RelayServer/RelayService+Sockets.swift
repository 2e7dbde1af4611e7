import FamilyModel
import ZeroMQ

extension RelayService {
  /// Binds both sockets and watches them on the socket thread.
  func openSockets() throws {
    // The handler comes before the sockets: CURVE without a ZAP handler accepts every key without
    // its identity.
    let zap = try ZAPHandler(in: context)
    thread.watch(zap.socket) { [weak self] in self?.assumeIsolated { $0.acceptKeys() } }
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
      ?? max(16, (ConnectionGuard.descriptors() - RelayLimits.reservedDescriptors) / 2)
    let requestGuard = try ConnectionGuard(
      router, in: context, limits: RelayLimits.requests(connections: connections))
    thread.watch(requestGuard.monitor.socket) { [weak self] in
      self?.assumeIsolated { $0.drainConnectionEvents() }
    }
    let broadcastGuard = try ConnectionGuard(
      publisher, in: context, limits: RelayLimits.broadcasts(connections: connections))
    thread.watch(broadcastGuard.monitor.socket) { [weak self] in
      self?.assumeIsolated { $0.drainConnectionEvents() }
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

  /// Accepts every key: each request is authorized by its family's roster.
  private func acceptKeys() {
    guarded { _ = try zap?.drain { _ in .acceptKey } }
  }

  private func drainConnectionEvents() {
    guarded {
      try requestGuard?.drain()
      if try router?.waitUntilReadable(within: .zero) == false { requestGuard?.settle() }
      try broadcastGuard?.drain()
      if try publisher?.waitUntilReadable(within: .zero) == false { broadcastGuard?.settle() }
    }
  }
}
