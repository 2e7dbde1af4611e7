import AppClient
import DeviceConnection
import FamilyCore
import FamilyModel
import RelayStore
import Synchronization

/// A device in this process, which answers as the test decides.
actor FakeDevice: DeviceConnection {
  nonisolated let events: AsyncStream<DeviceEvent>
  private nonisolated let continuation: AsyncStream<DeviceEvent>.Continuation
  private nonisolated let received = Mutex<[AppRequest]>([])
  /// Whether the device answers pings. A stopped process does not.
  private let isAlive: Bool

  init(isAlive: Bool) {
    self.isAlive = isAlive
    (events, continuation) = AsyncStream.makeStream()
  }

  func send(_ request: AppRequest) {
    received.withLock { $0.append(request) }
    if isAlive, request == .ping { tell(.pong) }
  }

  /// The app's requests so far, without pings.
  nonisolated var requests: [AppRequest] { received.withLock { $0.filter { $0 != .ping } } }

  nonisolated func tell(_ reply: AppReply) { continuation.yield(.reply(reply)) }
  nonisolated func connect() { continuation.yield(.connected) }
  nonisolated func disconnect() { continuation.yield(.disconnected) }
}

extension AppSession {
  static let app = AppID("example.landmarks")

  /// A session with the device and an empty store in memory. The session runs.
  static func with(_ device: FakeDevice, _ timing: SessionTiming) throws -> AppSession {
    let security = AppSecurity(family: FamilyID(0), child: PersonID(3), organizerKey: [])
    let session = try AppSession(app, security, device, timing: timing) { () throws(StoreError) in
      MemoryAgentStore()
    }
    Task { await session.run() }
    return session
  }

  /// A session that has caught up with the device.
  static func connected(_ device: FakeDevice, nameWait: Duration) async throws -> AppSession {
    var timing = SessionTiming()
    timing.nameWait = nameWait
    let session = try AppSession.with(device, timing)
    device.connect()
    device.tell(.attached(acknowledged: 0))
    device.tell(.caughtUp)
    _ = await session.untilCaughtUp(within: .seconds(10))
    return session
  }
}

extension Question {
  /// A question about one handle.
  static func about(_ name: String) -> Question {
    Question(
      id: ID128(high: 7, low: UInt64(name.utf8.first!)),
      topic: .communication(people: [Subject(handle: Handle(name, .custom))], actions: .chat))
  }
}
