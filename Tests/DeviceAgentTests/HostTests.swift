import Credentials
import DeviceAgent
import FamilyCore
import RelayFixture
import FamilyModel
import Foundation
import RelayClient
import Logging
import RelayStore
import Synchronization
import SystemClock
import Testing
import ZeroMQ

/// What reached the devices of a host.
private final class RecordingObserver: AgentObserver {
  let heard = Mutex<[DeviceID: [UInt64]]>([:])
  let applied = Mutex<[DeviceID: [UInt64]]>([:])

  func received(_ reply: Reply, on address: DeviceAddress) {}
  func received(_ broadcast: Broadcast, on address: DeviceAddress) {
    guard case .event(let event) = broadcast else { return }
    heard.withLock { $0[address.device, default: []].append(event.seq) }
  }
  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    for case .put(.event(let event)) in changes {
      applied.withLock { $0[address.device, default: []].append(event.seq) }
    }
  }

  func waitFor(_ seq: UInt64, on device: DeviceID) async throws -> Bool {
    for _ in 0..<patience / 10 {
      if applied.withLock({ $0[device]?.contains(seq) ?? false }) { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct HostTests {
  private let child = DeviceAddress(family: FamilyID(1), device: DeviceID(30))
  private let guardian = DeviceAddress(family: FamilyID(1), device: DeviceID(10))

  /// A relay, and a host with a child's device and a guardian's, each with its own key.
  private func started(_ ear: RecordingObserver) async throws -> (
    RelayFixture, AgentHost, Task<Void, any Error>
  ) {
    let rig = try await RelayFixture()
    let pairs = try rig.found(1)
    let credentials = [(child, Role.child), (guardian, .organizer)].map { address, role in
      Credential(
        address: address, personID: PersonID(address.device.rawValue / 10), role: role, name: "P",
        keys: pairs[address.device.rawValue]!,
        deviceKeys: RelayFixture.deviceKeys(address.device.rawValue),
        organizerKey: RelayFixture.deviceKeys(10).signingKey, relayKey: rig.administrator.relayKey,
        requests: rig.administrator.requests, broadcasts: rig.administrator.broadcasts)
    }
    let host = try AgentHost(
      .init(credentials: credentials, directory: rig.folder), store: MemoryAgentStore(),
      responder: nil, observer: ear, trace: Trace(nil),
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    let task = Task { try await host.run() }
    for device in [child.device, guardian.device] {
      #expect(try await ear.waitFor(1, on: device))
    }
    return (rig, host, task)
  }

  @Test("M5: two devices of a family in one process each hear a broadcast once")
  func once() async throws {
    let ear = RecordingObserver()
    let (rig, host, task) = try await started(ear)
    await host.act(ChildMachine.Input.post("Hello"), on: child)
    // The first event of the conversation is its keys, the second the text.
    #expect(try await ear.waitFor(3, on: child.device))
    #expect(try await ear.waitFor(3, on: guardian.device))
    // What the relay has published again is heard again, and rightly.
    if await rig.service.counters.republished == 0 {
      let heard = ear.heard.withLock { $0.mapValues { $0.count { $0 == 3 } } }
      #expect(heard.values.allSatisfy { $0 <= 1 }, "\(heard)")
    }
    task.cancel()
    _ = try? await task.value
    try await rig.stop()
  }

  @Test("M5: a device that was off the network gets everything missed when it returns, once")
  func offline() async throws {
    let ear = RecordingObserver()
    let (rig, host, task) = try await started(ear)
    await host.setOnline(false, guardian)
    // Keys of the conversation come before the texts.
    for text in ["One", "Two"] { await host.act(ChildMachine.Input.post(text), on: child) }
    #expect(try await ear.waitFor(4, on: child.device))
    #expect(ear.applied.withLock { $0[guardian.device] } == [1])
    await host.setOnline(true, guardian)
    #expect(try await ear.waitFor(4, on: guardian.device))
    #expect(ear.applied.withLock { $0[guardian.device] } == [1, 2, 3, 4])
    task.cancel()
    _ = try? await task.value
    try await rig.stop()
  }

  @Test("many commands go out together, and all are accepted or the first problem is told")
  func many() async throws {
    let rig = try await RelayFixture()
    func founding(_ family: UInt64, _ device: UInt32 = 10) throws -> SignedCommand {
      let address = DeviceAddress(family: FamilyID(family), device: DeviceID(10))
      var organizer = GuardianMachine(
        address, of: PersonID(1), security: RelayFixture.security(10), ids: IDSource(seed: family))
      let roster = Roster(
        persons: [Person(id: PersonID(1), role: .organizer, displayName: "Rosa")],
        devices: [
          Device(
            id: DeviceID(device), person: PersonID(1), publicKey: [UInt8](repeating: 7, count: 32),
            keys: RelayFixture.deviceKeys(10))
        ])
      return try organizer.prepare(.setRoster(roster), now: .now)[0]
    }
    var administrator = try Administrator(rig.administrator)
    var progress: [Int] = []
    try administrator.sendAll(
      (1...600).map { (family: FamilyID($0), command: try founding($0)) }
    ) { progress.append($0) }
    #expect(progress.last == 600 && progress == progress.sorted())
    #expect(try administrator.history(of: .family, in: FamilyID(600)).count == 1)
    #expect(throws: Problem.badFamily) {
      try administrator.sendAll([(family: FamilyID(3_000), command: try founding(3_000, 0))]) { _ in
      }
    }
    try await rig.stop()
  }
}
