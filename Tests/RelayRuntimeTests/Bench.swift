import FamilyModel
import Foundation
import Logging
import RelayRuntime
import RelayStore
import RelayWire
import SQLiteStore
import ServiceLifecycle
import Testing
import ZeroMQ

/// A relay in this process, on unix sockets in a folder that is gone with the value.
final class Bench {
  let folder: URL
  let keys: RelayKeys
  private(set) var relay: RelayService?
  private var task: Task<Void, any Error>?
  let emily = try! CurveKeyPair.generate()
  let rosa = try! CurveKeyPair.generate()
  let family = FamilyID(1)

  init() async throws {
    folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    keys = try RelayKeys.create(in: folder)
    try await start()
    var administrator = try Administrator(relay: folder)
    let roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: PersonID(2), role: .child, displayName: "Emily"),
      ],
      devices: [
        Device(id: DeviceID(1), person: PersonID(1), publicKey: rosa.publicKey.bytes),
        Device(id: DeviceID(2), person: PersonID(2), publicKey: emily.publicKey.bytes),
      ])
    try administrator.send(.setRoster(roster), to: family)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func start() async throws {
    let configuration = RelayService.Configuration(
      requests: RelayKeys.requests(in: folder), broadcasts: RelayKeys.broadcasts(in: folder))
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    let (ready, continuation) = AsyncStream<Void>.makeStream()
    let relay = try RelayService(
      configuration, keys: keys, store: store,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { continuation.yield(()) }
    self.relay = relay
    task = Task { try await relay.run() }
    for await _ in ready { break }
  }

  func stop() async {
    task?.cancel()
    _ = try? await task?.value
  }

  func isServed(_ client: Client, as device: UInt32) throws -> Bool {
    guard
      case .page(.family, let events, _)? = try client.ask(.fetch(.family, after: 0), as: device)
    else { return false }
    return events.count == 1
  }

  func client(_ pair: CurveKeyPair, _ kind: SocketKind = .dealer) throws -> Client {
    let client = try Client(kind, pair, keys.keys.publicKey)
    try client.socket.connect(
      kind == .sub || kind == .xsub
        ? RelayKeys.broadcasts(in: folder) : RelayKeys.requests(in: folder))
    return client
  }
}

/// A raw client: sends what it likes.
final class Client {
  let socket: Socket
  private let context: Context

  init(_ kind: SocketKind, _ pair: CurveKeyPair, _ server: CurvePublicKey) throws {
    context = try Context()
    var options = SocketOptions()
    options.security = .client(pair, server: server)
    socket = try Socket(kind, in: context, options: options)
  }

  /// The next message's frames; `nil` after `milliseconds` without one.
  func receive(_ milliseconds: Int = 5_000) throws -> [[UInt8]]? {
    guard try socket.waitUntilReadable(milliseconds: milliseconds) else { return nil }
    guard let message = try socket.receive() else { return nil }
    return message.allBytes
  }

  func reply(_ milliseconds: Int = 5_000) throws -> Reply? {
    guard let frames = try receive(milliseconds), let last = frames.last else { return nil }
    return try last.withUnsafeBytes { try ReplyEnvelope.decode($0) }.reply
  }

  func ask(_ request: Request, as device: UInt32, family: FamilyID = FamilyID(1)) throws -> Reply? {
    let envelope = Envelope(
      device: DeviceAddress(family: family, device: DeviceID(device)), requestID: 1,
      request: request)
    _ = try socket.send(socket.kind == .req ? [envelope.encode()] : [[], envelope.encode()])
    return try reply()
  }
}

func question(_ number: UInt64) -> Request {
  let header = QuestionHeader(
    id: ID128(high: 8, low: number), child: PersonID(2), app: AppID("example.landmarks"),
    subjects: [UInt8(truncatingIfNeeded: number)],
    choices: [ChoiceHeader(id: "approve", answer: .approval)], expiration: nil)
  return .command(ID128(high: 7, low: number), .ask(header, .text("content")))
}
