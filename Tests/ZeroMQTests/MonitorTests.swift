import Testing

@testable import ZeroMQ

/// A DEALER that monitors its own connection.
struct MonitoredClient: ~Copyable {
  let context: Context
  let socket: Socket
  private var monitor: Monitor
  private(set) var health = ConnectionHealth()
  private(set) var events: [MonitorEvent.Kind] = []

  init(_ security: CurveSecurity?, handshakeInterval: Nanoseconds = .seconds(10)) throws {
    let context = try Context()
    var options = SocketOptions()
    options.security = security
    options.handshakeInterval = handshakeInterval
    let socket = try Socket(.dealer, in: context, options: options)
    self.monitor = try Monitor(socket, in: context)
    self.context = context
    self.socket = socket
  }

  mutating func drain() throws {
    var (health, events) = (health, events)
    _ = try monitor.drain { event in
      health.step(event.kind, now: MonotonicInstant.now)
      events.append(event.kind)
    }
    (self.health, self.events) = (health, events)
  }

  mutating func wait(for states: ConnectionHealth.State...) throws {
    let end = MonotonicInstant.now + timeout
    while !states.contains(health.state) {
      guard MonotonicInstant.now < end else { throw TimedOut() }
      _ = try monitor.socket.waitUntilReadable(within: .milliseconds(20))
      try drain()
    }
  }

  mutating func hasGivenUp() throws -> Bool {
    try drain()
    return health.hasGivenUp(now: MonotonicInstant.now + ConnectionHealth.retryGrace)
  }
}

@Suite("Monitor")
struct MonitorTests {
  private let server: CurveKeyPair
  private let client: CurveKeyPair

  init() throws {
    server = try .generate()
    client = try .generate()
  }

  private func makeServer(_ context: Context) throws -> Socket {
    var options = SocketOptions()
    options.security = .server(server)
    return try Socket(.router, in: context, options: options)
  }

  @Test("the state is `serverUnreachable` without a server, and `connected` once it runs")
  func dead() throws {
    let context = try Context()
    let first = try makeServer(context)
    let endpoint = try first.bindToFreePort()
    try first.unbind(endpoint)
    var client = try MonitoredClient(.client(client, server: server.publicKey))
    try client.socket.connect(endpoint)
    try client.wait(for: .serverUnreachable)
    try first.bind(endpoint)
    try client.wait(for: .connected)
    let events = client.events
    #expect(events.contains(.closed))
    #expect(events.suffix(2) == [.connected, .handshakeSucceeded])
    try first.unbind(endpoint)
    first.close()
    try client.wait(for: .serverUnreachable)
  }

  @Test("a wrong server key is distinguished from a dead server")
  func wrongServerKey() throws {
    let context = try Context()
    let router = try makeServer(context)
    var monitor = try Monitor(router, in: context)
    var client = try MonitoredClient(.client(client, server: client.publicKey))
    try client.socket.connect(router.bindToFreePort())
    try client.wait(for: .keyRefused(.serverKey))
    let events = client.events
    #expect(!events.contains(.closed))
    #expect(!events.contains(.handshakeSucceeded))
    var seen: [MonitorEvent.Kind] = []
    _ = try monitor.drain { seen.append($0.kind) }
    #expect(seen.prefix(2) == [.listening, .accepted])
    // ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC
    #expect(seen.contains(.handshakeFailed(.protocolError(code: 0x1100_0001))))
  }

  @Test("a server without CURVE appears as a mechanism error or as a wrong key")
  func mechanism() throws {
    let context = try Context()
    let router = try Socket(.router, in: context)
    var client = try MonitoredClient(.client(client, server: server.publicKey))
    try client.socket.connect(router.bindToFreePort())
    // Depends on which side detects the error first. The code is
    // ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH.
    try client.wait(
      for: .keyRefused(.mechanism(code: 0x1100_0002)), .keyRefused(.serverKey))
  }

  @Test("a server whose ZAP handler does not reply is unreachable")
  func silent() throws {
    let context = try Context()
    let handler = try ZAPHandler(in: context)
    let router = try makeServer(context)
    var client = try MonitoredClient(
      .client(client, server: server.publicKey), handshakeInterval: .milliseconds(50))
    try client.socket.connect(router.bindToFreePort())
    try client.wait(for: .serverUnreachable)
    #expect(try handler.socket.lastEndpoint() == ZAPFrames.endpoint)
  }

  @Test("a monitor may end before its socket, which keeps connecting")
  func monitorEndsFirst() throws {
    let context = try Context()
    let dealer = try Socket(.dealer, in: context)
    let router = try Socket(.router, in: context)
    let endpoint = try router.bindToFreePort()
    try router.unbind(endpoint)
    do {
      var monitor = try Monitor(dealer, in: context)
      try dealer.connect(endpoint)
      var retried = false
      try eventually {
        _ = try monitor.drain { if case .connectRetried = $0.kind { retried = true } }
        return retried
      }
    }
    try router.bind(endpoint)
    try #expect(dealer.send(["still here".bytes]) == .sent)
    try #expect(router.next()[1] == "still here".bytes)
  }

  @Test("a socket may end before its monitor, and its context's other sockets go on")
  func socketEndsFirst() throws {
    let context = try Context()
    let router = try makeServer(context)
    let endpoint = try router.bindToFreePort()
    for _ in 0..<100 {
      var options = SocketOptions()
      options.security = .client(client, server: client.publicKey)
      options.reconnectInterval = .milliseconds(1)
      let dealer = try Socket(.dealer, in: context, options: options)
      let monitor = try Monitor(dealer, in: context)
      // The server refuses each handshake, so that events arrive while the sockets end.
      for _ in 0..<5 { try dealer.connect(endpoint) }
      _ = try monitor.socket.waitUntilReadable(within: timeout)
      dealer.close()
      _ = consume monitor
    }
    let other = try Socket(.dealer, in: context)
    let open = try Socket(.router, in: context)
    try other.connect(open.bindToFreePort())
    try #expect(other.send(["still here".bytes]) == .sent)
    try #expect(open.next()[1] == "still here".bytes)
  }
}

@Suite("Connection health")
struct ConnectionHealthTests {
  private typealias Kind = MonitorEvent.Kind

  private func health(_ events: [Kind], now: MonotonicInstant = .machineStart) -> ConnectionHealth {
    var health = ConnectionHealth()
    for event in events { health.step(event, now: now) }
    return health
  }

  private let hangUp: [MonitorEvent.Kind] = [
    .connectDelayed, .connected, .handshakeFailed(.noDetail(errno: 32)), .disconnected,
    .connectRetried(after: .milliseconds(10)),
  ]

  @Test("each row of the table leads to its state")
  func table() {
    #expect(health([]).state == .connecting)
    #expect(health([.connectDelayed]).state == .connecting)
    #expect(health([.connectDelayed, .connected]).state == .connecting)
    #expect(health([.connected, .handshakeSucceeded]).state == .connected)
    #expect(
      health([.connectDelayed, .closed, .connectRetried(after: .milliseconds(10))]).state
        == .serverUnreachable)
    #expect(health([.connectRetried(after: .milliseconds(10))]).state == .serverUnreachable)
    #expect(
      health([.connected, .handshakeFailed(.noDetail(errno: 11)), .disconnected]).state
        == .serverUnreachable)
    #expect(
      health([.connected, .handshakeFailed(.authentication(status: 400)), .disconnected]).state
        == .keyRefused(.clientKey(status: 400)))
    #expect(
      health([.connected, .handshakeFailed(.protocolError(code: 5)), .disconnected]).state
        == .keyRefused(.mechanism(code: 5)))
    #expect(health([.connected, .disconnected]).state == .serverUnreachable)
  }

  @Test("three failed handshakes in sequence are a wrong key, one is not")
  func suspicion() {
    #expect(health(hangUp).state == .connecting)
    #expect(health(hangUp + hangUp).state == .connecting)
    #expect(health(hangUp + hangUp + hangUp).state == .keyRefused(.serverKey))
    let lucky: [MonitorEvent.Kind] = [.connected, .handshakeSucceeded, .disconnected]
    #expect(health(hangUp + hangUp + lucky + hangUp).state == .connecting)
    let refused = hangUp + hangUp + hangUp
    #expect(health(refused + [.connectDelayed, .closed]).state == .serverUnreachable)
    #expect(
      health(hangUp + hangUp + hangUp + [.connected, .handshakeSucceeded]).state == .connected)
  }

  @Test("a key that was once right is suspected after a minute: a forwarder hides a dead server")
  func provenSuspicion() {
    var health = health([.connected, .handshakeSucceeded, .disconnected])
    let start = MonotonicInstant(nanoseconds: 1_000)
    for _ in 0..<5 { for event in hangUp { health.step(event, now: start) } }
    #expect(health.state == .serverUnreachable)
    health.step(.connected, now: start)
    #expect(health.state == .serverUnreachable)
    let late = start + ConnectionHealth.provenSuspicion
    for event in hangUp {
      health.step(event, now: MonotonicInstant(nanoseconds: late.nanoseconds - 1))
    }
    #expect(health.state == .serverUnreachable)
    for event in hangUp { health.step(event, now: late) }
    #expect(health.state == .keyRefused(.serverKey))
    health.step(.handshakeSucceeded, now: late)
    #expect(health.state == .connected)
    for _ in 0..<3 { for event in hangUp { health.step(event, now: late) } }
    #expect(health.state == .serverUnreachable)
  }

  @Test("after a disconnection without a retry, libzmq has given up")
  func givenUp() {
    let up: [MonitorEvent.Kind] = [.connected, .handshakeSucceeded]
    let now = MonotonicInstant(nanoseconds: 5)
    #expect(!health(up, now: now).hasGivenUp(now: .distantFuture))
    let down = health(up + [.disconnected], now: now)
    #expect(down.state == .connecting)
    #expect(!down.hasGivenUp(now: now + ConnectionHealth.retryGrace - Nanoseconds(1)))
    #expect(down.hasGivenUp(now: now + ConnectionHealth.retryGrace))
    #expect(
      !health(up + [.disconnected, .connectRetried(after: .milliseconds(9))]).hasGivenUp(
        now: .distantFuture))
    #expect(!health(up + [.disconnected, .connectDelayed]).hasGivenUp(now: .distantFuture))
    let retried = health(up + [.disconnected, .connectRetried(after: .milliseconds(9))])
    #expect(retried.state == .connecting)
  }
}
