import ContentCheck
@testable import Credentials
@testable import DeviceAgent
import DeviceTurn
import DeviceConnection
import RelayFixture
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayStore
import RelayWire
import ZeroMQ

/// A child's device in this process. The test acts as its relay.
final class AgentFixture {
  static let app = AppID("example.landmarks")
  static let otherApp = AppID("example.other")
  let folder: URL
  let host: AgentHost
  let router: Socket
  let publisher: Socket
  let keys: CurveKeyPair
  private let context: Context
  private let task: Task<Void, any Error>

  init(checker: (any ContentChecker)? = nil) async throws {
    folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    keys = try .generate()
    let context = try Context()
    var options = SocketOptions()
    options.security = .server(keys)
    options.maximumMessageSize = -1
    let router = try Socket(.router, in: context, options: options)
    let publisher = try Socket(.xpub, in: context, options: options)
    let requests = "ipc://\(folder.path)/requests.ipc"
    let broadcasts = "ipc://\(folder.path)/broadcasts.ipc"
    try router.bind(requests)
    try publisher.bind(broadcasts)
    self.context = context
    self.router = router
    self.publisher = publisher
    let credential = Credential(
      address: DeviceAddress(family: FamilyID(1), device: DeviceID(3)), personID: PersonID(3),
      role: .child, name: "Emily", keys: try .generate(), deviceKeys: DeviceKeys(),
      organizerKey: DeviceKeys().signingKey, relayKey: keys.publicKey, requests: requests,
      broadcasts: broadcasts)
    let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
    var configuration = AgentHost.Configuration(
      credentials: [credential], directory: folder,
      apps: [Self.app: ["/bin/true"], Self.otherApp: ["/bin/true"]])
    configuration.checker = checker
    let host = try AgentHost(
      configuration, store: MemoryAgentStore(), responder: nil,
      trace: Trace { if $0.contains("\"step\":\"ready\"") { continuation.finish() } },
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    self.host = host
    task = Task { try await host.run() }
    for await _ in ready {}
  }

  func appFile(_ app: AppID = AgentFixture.app) -> URL {
    folder.appendingPathComponent("app-1-3-\(app.rawValue).json")
  }

  func stop() async {
    task.cancel()
    _ = try? await task.value
    try? FileManager.default.removeItem(at: folder)
  }

  /// The device's next request, with the route for the reply.
  func request(_ time: Nanoseconds = patience) throws -> (route: [UInt8], envelope: Envelope)? {
    guard try router.waitUntilReadable(within: time),
      let message = try router.receive()
    else { return nil }
    return try message.withBytes(2) { bytes throws(Problem) in
      (message.bytes(0), try Envelope.decode(bytes))
    }
  }

  /// Connects to the device as the app, with its own key or another one.
  func app(_ pair: CurveKeyPair? = nil, as app: AppID = AgentFixture.app) throws -> Client {
    let data = try PrivateFile.read(appFile(app))
    let credential = try JSONDecoder().decode(AppCredential.self, from: data)
    let own = CurveKeyPair(secretZ85: credential.secretKey)!
    let device = CurvePublicKey(z85: credential.devicePublicKey)!
    let client = try Client(.dealer, pair ?? own, device)
    try client.socket.connect(credential.endpoint)
    return client
  }

  /// Waits until the counters meet the condition.
  func counters(are isExpected: (HostCounters) -> Bool) async throws -> Bool {
    try await poll { isExpected(await host.counters) }
  }
}

/// A client that can send arbitrary messages.
final class Client {
  let socket: Socket
  private let context: Context

  init(_ kind: SocketKind, _ pair: CurveKeyPair, _ server: CurvePublicKey) throws {
    context = try Context()
    var options = SocketOptions()
    options.security = .client(pair, server: server)
    socket = try Socket(kind, in: context, options: options)
  }

  /// The next message's frames; `nil` after `time` without one.
  func receive(_ time: Nanoseconds = patience) throws -> [[UInt8]]? {
    guard try socket.waitUntilReadable(within: time) else { return nil }
    guard let message = try socket.receive() else { return nil }
    return message.allBytes
  }
}

extension Client {
  func appReply(_ time: Nanoseconds = patience) throws -> AppReply? {
    guard let last = try receive(time)?.last else { return nil }
    return try last.withUnsafeBytes { bytes throws(Problem) in try AppReply.decode(bytes) }
  }
}
