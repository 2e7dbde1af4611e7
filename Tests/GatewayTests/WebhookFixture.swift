import FamilyModel
import Foundation
import GatewayModel
import GatewayServer
import Logging
import SQLiteStore
import Synchronization

/// A log with one app, and a clock that sleeps set forward.
final class WebhookFixture: Sendable {
  /// Time passes only while the sender sleeps.
  final class Clock: Sendable {
    private let time = Mutex(Instant(milliseconds: 1_700_000_000_000))

    @Sendable func now() -> Instant { time.withLock { $0 } }

    @Sendable func sleep(_ duration: Milliseconds) async throws {
      try await Task.sleep(for: .milliseconds(1))
      time.withLock { $0 = $0 + duration }
    }
  }

  let app = "example.landmarks"
  let clock = Clock()
  let secret = WebhookSecret(bytes: Array(repeating: 7, count: 32))!
  let folder: URL
  let store: SQLiteGatewayStore
  var path: String { folder.appendingPathComponent("gateway.sqlite").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("webhooks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try SQLiteGatewayStore(path: folder.appendingPathComponent("gateway.sqlite").path)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func append(_ count: Int) throws {
    let events = (0..<count).map { _ in
      SQLiteGatewayStore.NewEvent(type: "consent.given", time: clock.now(), data: "{}")
    }
    _ = try store.append(events, to: app)
  }

  /// Runs a sender until the condition is true, then cancels it as a kill does.
  ///
  /// - Parameter allowed: The operator's origins; `nil` for the server's.
  func run(
    _ server: WebhookReceiver, store: SQLiteGatewayStore? = nil, allowed: [String]? = nil,
    authorities: WebhookAuthorities = .init(), timeLimit: Milliseconds = WebhookSchedule.timeLimit,
    until condition: () throws -> Bool
  ) async throws {
    let sender = WebhookSender(
      store: store ?? self.store,
      webhooks: [.init(app: app, url: server.origin + "/hook", secret: secret)],
      allowed: (allowed ?? [server.origin]).compactMap(AllowedOrigin.init),
      authorities: authorities, timeLimit: timeLimit,
      time: .init(now: clock.now, pollInterval: .seconds(600), sleep: clock.sleep),
      logger: Logger(label: "test"))
    let running = Task { try await sender.run() }
    do { try await until(condition) } catch {
      running.cancel()
      throw error
    }
    running.cancel()
    try await running.value
  }

  func until(_ condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(2)) }
  }
}
