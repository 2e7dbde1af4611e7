import FamilyModel
import Foundation
import GatewayModel
import Logging
import SQLiteStore
import Testing

@testable import GatewayServer

/// The sender against servers on 127.0.0.1.
@Suite(.timeLimit(.minutes(10))) struct WebhookSenderTests {
  private let fixture: WebhookFixture
  init() throws { fixture = try WebhookFixture() }

  @Test("S1: events arrive in order, signed, with the content of the feed")
  func order() async throws {
    let server = try await WebhookReceiver { _ in .status(204) }
    try fixture.append(3)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    let requests = server.seen.requests
    #expect(
      requests.map(\.id)
        == (1...3).map {
          WebhookSignature.id(store: fixture.store.id, app: fixture.app, number: $0)
        })
    let events = try fixture.store.events(of: fixture.app, after: 0, limit: 10)
    for (request, event) in zip(requests, events) {
      #expect(Array(request.body.utf8) == GatewayEvent.json(event))
      let signature = WebhookSignature(
        id: request.id, now: Instant(milliseconds: request.timestamp * 1_000),
        body: Array(request.body.utf8), secret: fixture.secret)
      #expect(request.headers["webhook-signature"] == [signature.value])
      #expect(request.headers["content-type"] == ["application/json"])
    }
  }

  @Test("S1: failures delay the event by the schedule or by Retry-After, and keep its id")
  func failures() async throws {
    let script: [WebhookReceiver.Reply] = [
      .status(500), .status(503, [("Retry-After", "3600")]),
      .status(429, [("Retry-After", "100000")]), .status(200), .status(200),
    ]
    let server = try await WebhookReceiver { script[min($0, 4)] }
    try fixture.append(2)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    let requests = server.seen.requests
    #expect(Set(requests.prefix(4).map(\.id)).count == 1 && requests.count == 5)
    for (index, delay) in [Int64(5), 3_600, 43_200].enumerated() {
      let waited = requests[index + 1].timestamp - requests[index].timestamp
      #expect((delay - 1...delay + 3).contains(waited), "\(waited) s instead of \(delay) s")
    }
  }

  @Test("S1: a redirect is not followed; its event becomes a dead letter that can be retried")
  func redirect() async throws {
    let other = try await WebhookReceiver { _ in .status(200) }
    let target = other.origin
    let server = try await WebhookReceiver { number in
      number < 11 ? .status(307, [("Location", target)]) : .status(200)
    }
    try fixture.append(2)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    #expect(other.seen.connections == 0)
    let dead = try fixture.store.deadLetters(of: fixture.app)
    #expect(dead.map(\.event.number) == [1] && dead[0].failures == 11)
    #expect(dead[0].reason.contains("307"))
    #expect(server.ids.count == 12 && Set(server.ids).count == 2)

    // The retried letter goes before the next event.
    #expect(try fixture.store.retryDeadLetters(of: fixture.app, number: 1) == 1)
    try fixture.append(1)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    #expect(server.numbers.suffix(2) == ["1", "3"])
    #expect(try fixture.store.deadLetters(of: fixture.app) == [])
  }

  @Test(
    "S1: a server that does not reply in time gets the event again",
    arguments: ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nserver: slow\r\n"])
  func slow(_ start: String) async throws {
    let server = try await WebhookReceiver { _ in .raw(start, closes: false) }
    try fixture.append(1)
    try await fixture.run(server, timeLimit: .milliseconds(200)) {
      try fixture.store.nextDelivery(of: fixture.app)?.failures ?? 0 >= 1
    }
    let next = try #require(try fixture.store.nextDelivery(of: fixture.app))
    #expect(next.reason == "no reply within the time limit")
    let other = try await WebhookReceiver { _ in .status(200) }
    try await fixture.run(other) { try fixture.store.queued(of: fixture.app) == 0 }
    #expect(other.ids.count == 1 && Set(server.ids + other.ids).count == 1)
  }

  @Test("S1: a status counts although its body stays away until the time limit")
  func body() async throws {
    let server = try await WebhookReceiver { _ in
      .raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", closes: false)
    }
    try fixture.append(2)
    try await fixture.run(server, timeLimit: .milliseconds(200)) {
      try fixture.store.queued(of: fixture.app) == 0
    }
    // A busy machine may spend the time limit before the status.
    #expect(Set(server.numbers) == ["1", "2"] && server.numbers.last == "2")
  }

  @Test(
    "S1: what is no reply of HTTP is no delivery",
    arguments: [
      "HTTP/1.1 2OO OK\r\ncontent-length: 0\r\n\r\n", "200 OK\r\n\r\n", "\r\n\r\n",
      "HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n",
    ])
  func lies(_ reply: String) async throws {
    let server = try await WebhookReceiver { _ in .raw(reply, closes: true) }
    try fixture.append(2)
    try await fixture.run(server) {
      try fixture.store.nextDelivery(of: fixture.app)?.failures ?? 0 >= 3
    }
    #expect(try fixture.store.queued(of: fixture.app) == 2 && Set(server.numbers) == ["1"])
  }

  @Test("S1: a server that closes the connection after reading the event gets it again")
  func closes() async throws {
    let server = try await WebhookReceiver { $0 < 2 ? .close : .status(200) }
    try fixture.append(2)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    #expect(server.numbers == ["1", "1", "1", "2"])
  }

  @Test("S1: a second reply on a connection is not the reply to the next event")
  func twice() async throws {
    let server = try await WebhookReceiver { $0 == 0 ? .twice(200, 200) : .status(500) }
    try fixture.append(2)
    try await fixture.run(server) {
      try fixture.store.nextDelivery(of: fixture.app)?.failures ?? 0 >= 2
    }
    let next = try #require(try fixture.store.nextDelivery(of: fixture.app))
    #expect(next.event.number == 2 && next.reason == "status 500")
    #expect(server.seen.connections == server.seen.requests.count)
  }

  @Test("S1: 64 KB of an endless body are read, and its status counts")
  func endless() async throws {
    let server = try await WebhookReceiver { _ in .endless }
    try fixture.append(2)
    // The bytes end the reply, because the time limit does not.
    try await fixture.run(server, timeLimit: .hours(1)) {
      try fixture.store.queued(of: fixture.app) == 0 && server.seen.open == 0
    }
    #expect(server.numbers == ["1", "2"])
    // The kernel's buffers hold some of what the server has written.
    #expect((2 * 65_536...64 << 20).contains(server.seen.written))
  }

  @Test("S1: after a kill in an attempt, another sender continues with the same event and id")
  func restart() async throws {
    let server = try await WebhookReceiver { number in
      switch number {
      case 0: .status(500)
      case 1: .silence
      default: .status(200)
      }
    }
    try fixture.append(2)
    try await fixture.run(server) { server.ids.count == 2 }
    let store = try SQLiteGatewayStore(path: fixture.path)
    let next = try #require(try store.nextDelivery(of: fixture.app))
    #expect(next.event.number == 1 && next.failures == 1)
    try await fixture.run(server, store: store) { try store.queued(of: fixture.app) == 0 }
    #expect(server.numbers == ["1", "1", "1", "2"])
    #expect(Set(server.ids).count == 2)
  }

  @Test("S1: a server that the operator has not allowed gets no request, and the queue waits")
  func notAllowed() async throws {
    let server = try await WebhookReceiver { _ in .status(200) }
    try fixture.append(2)
    let reason = "the operator has not allowed \(server.origin)"
    try await fixture.run(server, allowed: ["https://127.0.0.1", "http://127.0.0.1"]) {
      try fixture.store.nextDelivery(of: fixture.app)?.reason == reason
    }
    #expect(server.seen.connections == 0)
    #expect(try fixture.store.nextDelivery(of: fixture.app)?.failures == 0)
    #expect(try fixture.store.queued(of: fixture.app) == 2)
    try await fixture.run(server) { try fixture.store.queued(of: fixture.app) == 0 }
    #expect(server.ids.count == 2)
  }

  @Test("S1: a wake-up sends a new event without a wait")
  func wakes() async throws {
    let server = try await WebhookReceiver { _ in .status(200) }
    let webhook = WebhookSender.Webhook(
      app: fixture.app, url: server.origin, secret: fixture.secret)
    // The sleep has no end, so that only the wake-up can end the wait.
    let sender = WebhookSender(
      store: fixture.store, webhooks: [webhook], allowed: [AllowedOrigin(server.origin)!],
      time: .init(now: fixture.clock.now) { _ in try await Task.sleep(for: .seconds(86_400)) },
      logger: Logger(label: "test"))
    let running = Task { try await sender.run() }
    for number in 1...3 {
      try fixture.append(1)
      sender.wake(app: fixture.app)
      try await fixture.until { server.ids.count == number }
    }
    running.cancel()
    try await running.value
  }
}
