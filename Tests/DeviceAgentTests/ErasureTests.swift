import DeviceTurn
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayStore
import SQLiteStore
import Testing
import ZeroMQ

@testable import Credentials
@testable import DeviceAgent
@testable import FamilyCore

@Suite(.timeLimit(.minutes(20))) struct ErasureTests {
  private static let device = DeviceAddress(family: FamilyID(1), device: DeviceID(3))
  private static let child = PersonID(3)
  private let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
  private var path: String { folder.appendingPathComponent("agent.sqlite").path }

  private func withStore<R>(_ body: (SQLiteAgentStore) throws -> R) throws -> R {
    let store = try SQLiteAgentStore(path: path)
    defer { store.close() }
    return try body(store)
  }

  private func makeFolder() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Adds a text that was posted at the time.
  private func addText(_ seq: UInt64, at: Instant, to store: SQLiteAgentStore) throws {
    let event = Event(
      seq: seq, previous: 0, audience: .conversation(Self.child),
      command: CommandID(high: 1, low: seq), device: Self.device.device, at: at,
      body: .posted(child: Self.child, .sealed([1, 2, 3])))
    try store.apply([Change(.put(.event(event)), under: Self.device.recordKeyPrefix)])
  }

  /// The events that have their contents.
  private func contents(_ store: SQLiteAgentStore) throws -> [UInt64] {
    try store.records(of: Self.device).compactMap { record in
      guard case .event(let event) = record, !event.body.isErased else { return nil }
      return event.seq
    }
  }

  @Test("O6, O11: a device erases at most once a day, or at once if contents stay for less time")
  func daily() throws {
    try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try withStore { store in
      let noon = Instant(milliseconds: 1_000_000_000)
      func erase(_ end: Instant) throws -> Int {
        try store.eraseContents(of: Self.device, endedBy: end)
      }
      try addText(1, at: noon, to: store)
      #expect(try erase(noon - .seconds(1)) == 0)
      #expect(try contents(store) == [1])
      #expect(try erase(noon + .days(1)) == 1)
      try addText(2, at: noon, to: store)
      // The next start of the day, one whose clock was set back, and one on the next day.
      #expect(try erase(noon + .days(1) + .seconds(3_600)) == 0)
      #expect(try erase(noon) == 0)
      #expect(try contents(store) == [2])
      #expect(try erase(noon + .days(2)) == 1)
      #expect(try contents(store) == [])
    }
  }

  @Test("O6, O11: a damaged snapshot does not end an erasure, which removes it")
  func damagedSnapshot() throws {
    try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let snapshot = [UInt8](repeating: 0xAB, count: 64)
    let noon = Instant(milliseconds: 1_000_000_000)
    try withStore { store in
      try addText(1, at: noon, to: store)
      try store.apply([Change(.put(.snapshot(snapshot)), under: Self.device.recordKeyPrefix)])
    }
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    file[try #require(file.firstRange(of: Data(snapshot))).lowerBound] ^= 1
    try file.write(to: URL(fileURLWithPath: path))
    try withStore { (store) throws in
      #expect(throws: StoreError.self) { try store.records(of: Self.device) }
      #expect(try store.eraseContents(of: Self.device, endedBy: noon + .days(1)) == 1)
      #expect(try store.records(of: Self.device).count == 1)
    }
  }

  @Test("O6: an agent with a retention erases old contents at its start, and keeps younger ones")
  func start() async throws {
    try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try withStore { store in
      try addText(1, at: .now - .days(31), to: store)
      try addText(2, at: .now - .days(29), to: store)
    }
    let credential = Credential(
      address: Self.device, personID: Self.child, role: .child, name: "Emily",
      keys: try .generate(), deviceKeys: DeviceKeys(), organizerKey: DeviceKeys().signingKey,
      relayKey: try CurveKeyPair.generate().publicKey,
      requests: "ipc://\(folder.path)/nowhere.ipc",
      broadcasts: "ipc://\(folder.path)/nowhere-2.ipc")
    var configuration = AgentHost.Configuration(
      credentials: [credential], directory: folder, apps: [:])
    configuration.retention = .days(30)
    let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
    let host = try AgentHost(
      configuration, store: SQLiteAgentStore(path: path), responder: nil,
      trace: Trace { if $0.contains("\"step\":\"ready\"") { continuation.finish() } },
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    let task = Task { try await host.run() }
    for await _ in ready {}
    task.cancel()
    _ = try? await task.value
    #expect(try withStore(contents) == [2])
  }
}
