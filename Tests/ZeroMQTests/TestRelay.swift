import Testing

@testable import ZeroMQ

/// A small relay on one thread: a ROUTER that echoes, an XPUB that approves some topics, and a ZAP
/// handler. Also an example of an actor on a ``SocketThread``.
actor TestRelay {
  let context: Context
  let keys: CurveKeyPair
  nonisolated let thread: SocketThread
  private var zap: ZAPHandler?
  private var router: Socket?
  private var broadcasts: Socket?
  private var gate = SubscriptionGate()
  private var message = Multipart()
  private(set) var subscriptions: [SubscriptionEvent] = []
  private(set) var userIDs: [String?] = []
  private(set) var refused: Set<CurvePublicKey> = []
  private var topics: Set<[UInt8]> = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init() throws {
    context = try Context()
    keys = try CurveKeyPair.generate()
    thread = try SocketThread()
  }

  /// Binds all sockets and returns the endpoints of the ROUTER and the XPUB.
  func start(topics: Set<[UInt8]> = []) throws -> (router: String, broadcasts: String) {
    self.topics = topics
    let zap = try ZAPHandler(in: context)
    var options = SocketOptions()
    options.security = .server(keys)
    options.zapDomain = "relay"
    options.xpubManual = true
    let router = try Socket(.router, in: context, options: options)
    let broadcasts = try Socket(.xpub, in: context, options: options)
    let endpoints = (try router.bindToFreePort(), try broadcasts.bindToFreePort())
    thread.watch(zap.socket) { [weak self] in self?.assumeIsolated { $0.authenticate() } }
    thread.watch(router) { [weak self] in self?.assumeIsolated { $0.answer() } }
    thread.watch(broadcasts) { [weak self] in self?.assumeIsolated { $0.subscribe() } }
    self.zap = consume zap
    self.router = consume router
    self.broadcasts = consume broadcasts
    return endpoints
  }

  func refuse(_ key: CurvePublicKey) {
    refused.insert(key)
  }

  func allow(_ key: CurvePublicKey) {
    refused.remove(key)
  }

  func publish(_ parts: [[UInt8]]) throws {
    _ = try broadcasts?.send(parts)
  }

  private func authenticate() {
    _ = try? zap?.drain { request in
      guard request.domain == "relay", let key = request.publicKey, !refused.contains(key) else {
        return .deny
      }
      return .acceptKey
    }
  }

  private func answer() {
    while (try? router?.receive(into: &message)) == .message {
      userIDs.append(message.userID)
      _ = try? router?.send(message)
    }
  }

  private func subscribe() {
    guard broadcasts != nil else { return }
    _ = try? gate.drain(broadcasts!) { event in
      subscriptions.append(event)
      return topics.contains(event.topic) ? event.topic : nil
    }
  }
}
