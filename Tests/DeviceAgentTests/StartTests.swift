import Credentials
import DeviceTurn
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayStore
import RelayWire
import SQLiteStore
import Testing
import ZeroMQ

@testable import DeviceAgent
@testable import FamilyCore

extension AgentHost {
  func closeStore() { store.close() }
}

@Suite struct StartTests {
  private let first = DeviceAddress(family: FamilyID(1), device: DeviceID(3))
  private let second = DeviceAddress(family: FamilyID(1), device: DeviceID(4))

  @Test("O11: a start that ends early keeps the snapshots of the devices that it has restored")
  func partial() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("agent.sqlite").path
    let store = try SQLiteAgentStore(path: path)
    // The first device removes a snapshot that it did not seal. The second one has an invalid record.
    let invalid = second.recordKeyPrefix + RecordKey.event(.family, seq: 1).bytes
    try store.apply([
      Change(.put(.snapshot([])), under: first.recordKeyPrefix),
      Change(key: invalid, value: [0xFF]),
    ])
    store.close()
    let keys = try CurveKeyPair.generate()
    let credentials = [first, second].map {
      Credential(
        address: $0, personID: PersonID(3), role: .child, name: "Emily", keys: keys,
        deviceKeys: DeviceKeys(), organizerKey: DeviceKeys().signingKey, relayKey: keys.publicKey,
        requests: "ipc://\(folder.path)/requests.ipc",
        broadcasts: "ipc://\(folder.path)/broadcasts.ipc")
    }
    let host = try AgentHost(
      .init(credentials: credentials, directory: folder), store: SQLiteAgentStore(path: path),
      responder: nil, trace: Trace(nil),
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    await #expect(throws: Problem.self) { try await host.run() }
    await host.closeStore()
    let records = try SQLiteAgentStore(path: path).records(of: first)
    #expect(records.isEmpty)
  }
}
