import Credentials
import DeviceAgent
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayFixture
import RelayStore
import Synchronization
import Testing
import ZeroMQ

/// Records the apps whose registration is durable.
private final class Registrations: AgentObserver {
  let apps = Mutex<Set<AppID>>([])
  let change = Signal()

  func received(_ reply: Reply, on address: DeviceAddress) {}
  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    for case .put(.app(let app, let progress)) in changes where progress.registered {
      apps.withLock { _ = $0.insert(app) }
    }
    change.notify()
  }
  func has(_ app: AppID) -> Bool { apps.withLock { $0.contains(app) } }
}

@Suite(.timeLimit(.minutes(10))) struct CommitDelayTests {
  @Test(
    "X2: a change without other effects becomes durable by its deadline, or when the host stops")
  func alone() async throws {
    let (first, last) = (AppID("example.first"), AppID("example.last"))
    // The device has no family, so nothing else happens.
    let address = DeviceAddress(family: FamilyID(0), device: DeviceID(3))
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let keys = try CurveKeyPair.generate()
    let credential = Credential(
      address: address, personID: PersonID(3), role: .child, name: "Emily", keys: keys,
      deviceKeys: DeviceKeys(), organizerKey: [], relayKey: keys.publicKey, requests: "",
      broadcasts: "")
    let durable = Registrations()
    let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
    let host = try AgentHost(
      .init(
        credentials: [credential], directory: folder,
        apps: [first: ["/bin/true"], last: ["/bin/true"]]), store: MemoryAgentStore(),
      responder: nil, observer: durable,
      trace: Trace { if $0.contains("\"step\":\"ready\"") { continuation.finish() } },
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    let task = Task { try await host.run() }
    for await _ in ready {}

    await host.act(ChildMachine.Input.app(first, .register), on: address)
    #expect(await durable.change.wait { durable.has(first) })
    await host.act(ChildMachine.Input.app(last, .register), on: address)
    task.cancel()
    try await task.value
    #expect(durable.has(last))
  }
}
