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

/// Records the events that a host's devices receive and apply.
private final class RecordingObserver: AgentObserver {
  let received = Mutex<[DeviceID: [UInt64]]>([:])
  let applied = Mutex<[DeviceID: [UInt64]]>([:])
  private let change = Signal()

  func received(_ reply: Reply, on address: DeviceAddress) {}
  func received(_ broadcast: Broadcast, on address: DeviceAddress) {
    guard case .event(let event) = broadcast else { return }
    received.withLock { $0[address.device, default: []].append(event.seq) }
  }
  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    for case .put(.event(let event)) in changes {
      applied.withLock { $0[address.device, default: []].append(event.seq) }
    }
    change.notify()
  }

  /// Waits until the device has applied the event.
  func waitFor(_ seq: UInt64, on device: DeviceID) async -> Bool {
    await change.wait { applied.withLock { $0[device]?.contains(seq) ?? false } }
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct HostTests {
  private let child = DeviceAddress(family: FamilyID(1), device: DeviceID(30))
  private let guardian = DeviceAddress(family: FamilyID(1), device: DeviceID(10))

  /// A relay, and a host of a child's and a guardian's device with separate keys.
  private func started(_ observer: RecordingObserver) async throws -> (
    RelayFixture, AgentHost, Task<Void, any Error>
  ) {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let credentials = [(child, Role.child), (guardian, .organizer)].map { address, role in
      Credential(
        address: address, personID: PersonID(address.device.rawValue / 10), role: role, name: "P",
        keys: pairs[address.device.rawValue]!,
        deviceKeys: RelayFixture.deviceKeys(address.device.rawValue),
        organizerKey: RelayFixture.deviceKeys(10).signingKey,
        relayKey: fixture.administrator.relayKey,
        requests: fixture.administrator.requests, broadcasts: fixture.administrator.broadcasts)
    }
    let host = try AgentHost(
      .init(credentials: credentials, directory: fixture.folder), store: MemoryAgentStore(),
      responder: nil, observer: observer, trace: Trace(nil),
      logger: Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() })
    let task = Task { try await host.run() }
    for device in [child.device, guardian.device] {
      #expect(await observer.waitFor(1, on: device))
    }
    return (fixture, host, task)
  }

  @Test("M5: two devices of a family in one process each receive a broadcast once")
  func once() async throws {
    let observer = RecordingObserver()
    let (fixture, host, task) = try await started(observer)
    await host.act(ChildMachine.Input.post("Hello"), on: child)
    // The conversation's first event carries its content key, the second the text.
    #expect(await observer.waitFor(3, on: child.device))
    #expect(await observer.waitFor(3, on: guardian.device))
    // A republished event may be received twice.
    if await fixture.service.counters.republished == 0 {
      let received = observer.received.withLock { $0.mapValues { $0.count { $0 == 3 } } }
      #expect(received.values.allSatisfy { $0 <= 1 }, "\(received)")
    }
    task.cancel()
    _ = try? await task.value
    try await fixture.stop()
  }

  @Test("M5: a device receives every missed event once after it returns to the network")
  func offline() async throws {
    let observer = RecordingObserver()
    let (fixture, host, task) = try await started(observer)
    await host.setOnline(false, guardian)
    // The content key's event precedes the texts.
    for text in ["One", "Two"] { await host.act(ChildMachine.Input.post(text), on: child) }
    #expect(await observer.waitFor(4, on: child.device))
    #expect(observer.applied.withLock { $0[guardian.device] } == [1])
    await host.setOnline(true, guardian)
    #expect(await observer.waitFor(4, on: guardian.device))
    #expect(observer.applied.withLock { $0[guardian.device] } == [1, 2, 3, 4])
    task.cancel()
    _ = try? await task.value
    try await fixture.stop()
  }

  @Test("F9: the status of a removed device is “no family”", arguments: [false, true])
  func removed(_ isAway: Bool) async throws {
    let observer = RecordingObserver()
    let (fixture, host, task) = try await started(observer)
    if isAway { await host.setOnline(false, child) }
    let roster = try #require(await host.view(of: guardian)).link.roster(removing: child.device)
    await host.act(.setRoster(roster), on: guardian)
    #expect(await observer.waitFor(2, on: guardian.device))
    await host.setOnline(true, child)
    var relay: String?
    for _ in 0..<3_000 where relay != "no family" {
      try await Task.sleep(for: .milliseconds(20))
      relay = await host.status.devices.first { $0.device == 30 }?.relay
    }
    #expect(relay == "no family")
    #expect(await host.status.devices.first { $0.device == 10 }?.relay == "connected")
    task.cancel()
    _ = try? await task.value
    try await fixture.stop()
  }

  @Test("many commands are sent together, and the first problem is reported")
  func many() async throws {
    let fixture = try await RelayFixture()
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
    var administrator = try Administrator(fixture.administrator)
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
    try await fixture.stop()
  }
}
