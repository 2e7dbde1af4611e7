import AppClient
import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import RelayWire
import SQLiteStore
import Testing

/// Two processes of one app. The store is locked between two sessions of one process too.
@Suite(.timeLimit(.minutes(10))) struct SecondProcessTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "second-\(UUID().uuidString.prefix(8))")
  private let ada = Handle("ada", .custom)

  private func session(_ device: FakeDevice, storeWait: Duration = .milliseconds(300)) throws
    -> AppSession
  {
    let path = folder.appendingPathComponent("permissionkit.sqlite").path
    let security = AppSecurity(family: FamilyID(0), child: PersonID(3), organizerKey: [])
    var timing = SessionTiming()
    timing.storeWait = storeWait
    timing.storeRetry = .milliseconds(10)
    return try AppSession(
      AppSession.app, security, device, timing: timing, copy: KnownCopy(folder: folder)
    ) { () throws(StoreError) in try SQLiteAgentStore(path: path, waitsForLock: false) }
  }

  private func knows(_ session: AppSession) -> Bool {
    session.known.withLock { known in known.contains(ada) }
  }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try SQLiteAgentStore(
      path: folder.appendingPathComponent("permissionkit.sqlite").path)
    let known = AppRecord.known(ada)
    try store.apply([Change(key: known.key, value: known.value)])
    store.close()
  }

  @Test("K1, K2: a second process has the known handles, and its calls name the first process")
  func locked() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try session(FakeDevice(isAlive: true))
    let second = try session(FakeDevice(isAlive: true))
    let running = Task { await second.run() }
    #expect(knows(second))
    await second.untilStarted()
    do {
      _ = try await second.ask(.about("ben"), .choose)
      Issue.record("the second process asked")
    } catch let failure as DeviceProblem {
      #expect(failure.number == 421)
      #expect(failure.description.contains("\(ProcessInfo.processInfo.processIdentifier)"))
    }
    running.cancel()
    withExtendedLifetime(first) {}
  }

  @Test("K1, R7: a second process has the store, the calls and the responses after the first's end")
  func succession() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var first: AppSession? = try session(FakeDevice(isAlive: true))
    let device = FakeDevice(isAlive: true)
    let second = try session(device, storeWait: .seconds(60))
    let running = Task { await second.run() }
    let question = Question.about("ben")
    let loop = second.openLoop(.communication)
    async let outcome = second.ask(question, .choose)
    try await Task.sleep(for: .milliseconds(100))
    #expect(device.requests == [])
    withExtendedLifetime(first) {}
    first = nil
    device.connect()
    while !device.requests.contains(.ask(question, .choose)) { await Task.yield() }
    device.tell(.attached(acknowledged: 0))
    device.tell(.asked(question.id, .answeredByDefault))
    #expect(try await outcome == .answeredByDefault)
    device.tell(.entry(AppEntry(position: 1, body: .response(question, .decline))))
    var deliveries = loop.deliveries.makeAsyncIterator()
    await loop.requestNext()
    #expect(await deliveries.next()?.question.id == question.id)
    #expect(knows(second))
    running.cancel()
  }
}
