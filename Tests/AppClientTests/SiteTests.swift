import AppClient
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import RelayWire
import SQLiteStore
import Synchronization
import Testing

/// The access to sites between an app and its device.
@Suite(.timeLimit(.minutes(10))) struct SiteTests {
  private let site = Site("example.co.uk")!
  private let other = Site("other.example")!

  @Test("S5: an app waits for the device's answer about a new site, once")
  func once() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try await AppSession.connected(device, nameWait: .seconds(600))
    #expect(session.access(to: site) == nil)
    async let access = session.access(requesting: site)
    while !device.requests.contains(.sites([site])) { await Task.yield() }
    device.tell(.sites([SiteAccess(site, .allow)], isRestricted: false))
    #expect(await access == .allow)
    #expect(await session.access(requesting: site) == .allow)
    #expect(device.requests.filter { $0 == .sites([site]) }.count == 1)
    #expect(session.isWebRestricted == false)
  }

  @Test("S5: a device that does not answer, or refuses the app, leaves a new site unknown")
  func silent() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try await AppSession.connected(device, nameWait: .milliseconds(50))
    #expect(await session.access(requesting: site) == nil)
    #expect(device.requests.contains(.sites([site])))
    let refusing = FakeDevice(isAlive: true)
    var timing = SessionTiming()
    timing.nameWait = .seconds(600)
    let refused = try AppSession.with(refusing, timing)
    refusing.connect()
    refusing.tell(.failed(.ratedAbove))
    while refused.eventsProcessed < 2 { await Task.yield() }
    #expect(await refused.access(requesting: site) == nil)
  }

  @Test("S5, Q12: an approval ends without the device, also if the clock is set back afterwards")
  func ends() async throws {
    let device = FakeDevice(isAlive: true)
    let clock = TestClock()
    let security = AppSecurity(family: FamilyID(0), child: PersonID(3), organizerKey: [])
    let session = try AppSession(
      AppSession.app, security, device, clock: { clock.now }
    ) { () throws(StoreError) in MemoryAgentStore() }
    Task { await session.run() }
    device.connect()
    device.tell(.attached(acknowledged: 0))
    await session.request([site])
    device.tell(
      .sites(
        [SiteAccess(site, .allow, until: clock.now + .hours(1))], isRestricted: true))
    while session.access(to: site) == nil { await Task.yield() }
    device.disconnect()
    #expect(session.access(to: site) == .allow)
    clock.set(clock.now + .hours(2))
    #expect(session.access(to: site) == .ask)
    clock.set(clock.now - .hours(2))
    #expect(session.access(to: site) == .ask)
  }

  @Test("S5: a second process of an app has no answers while the first holds the store")
  func second() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "sites-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func session() throws -> AppSession {
      let path = folder.appendingPathComponent("permissionkit.sqlite").path
      let security = AppSecurity(family: FamilyID(0), child: PersonID(3), organizerKey: [])
      var timing = SessionTiming()
      timing.storeRetry = .milliseconds(10)
      return try AppSession(
        AppSession.app, security, FakeDevice(isAlive: true), timing: timing,
        copy: KnownCopy(folder: folder)
      ) { () throws(StoreError) in try SQLiteAgentStore(path: path, waitsForLock: false) }
    }
    let store = try SQLiteAgentStore(
      path: folder.appendingPathComponent("permissionkit.sqlite").path)
    let record = AppRecord.site(SiteAccess(site, .allow))
    try store.apply([Change(key: record.key, value: record.value)])
    store.close()
    let first = try session()
    #expect(first.access(to: site) == .allow)
    let second = try session()
    let running = Task { await second.run() }
    #expect(await second.access(requesting: site) == nil)
    await first.close()
    while second.access(to: site) != .allow { await Task.yield() }
    running.cancel()
  }

  @Test(
    "S5, X2: a real child-agent answers; after kill -9 the answers stay, and new sites are unknown")
  func real() async throws {
    let device = RealDevice(app: "exit 0")
    try await device.run { process in
      let session = try await device.session()
      Task { await session.run() }
      // A person without a family has no rules.
      while await session.access(requesting: site) != .allow { await Task.yield() }
      #expect(session.isWebRestricted == false)
      kill(process, SIGKILL)
      #expect(session.access(to: site) == .allow)
      #expect(await session.access(requesting: other) == nil)
    }
  }
}

private final class TestClock: Sendable {
  private let time = Mutex(Instant(milliseconds: 1_000_000_000))
  var now: Instant { time.withLock { $0 } }
  func set(_ now: Instant) { time.withLock { $0 = now } }
}
