import AppClient
import DeviceConnection
import FamilyCore
import FamilyModel
import Testing

/// Every call of an app ends, whatever its device does.
@Suite(.timeLimit(.minutes(10))) struct CallLimitTests {
  private static func timing(silence: Duration, ping: Duration) -> SessionTiming {
    var timing = SessionTiming()
    timing.deviceSilence = silence
    timing.devicePing = ping
    return timing
  }

  private let short = CallLimitTests.timing(
    silence: .milliseconds(600), ping: .milliseconds(100))
  private let long = CallLimitTests.timing(silence: .seconds(600), ping: .seconds(600))

  /// The number of the problem with which the call failed; `nil` after a reply.
  private func failure<R: Sendable>(_ call: @Sendable () async throws -> R) async -> Int? {
    do {
      _ = try await call()
      return nil
    } catch { return (error as? DeviceProblem)?.number }
  }

  @Test("A8: calls to a device that does not answer fail after the limit")
  func silent() async throws {
    let device = FakeDevice(isAlive: false)
    let session = try AppSession.with(device, short)
    device.connect()
    let start = ContinuousClock.now
    let asked = await failure { try await session.ask(.about("ada"), .choose) }
    #expect(asked == 420)
    #expect(start.duration(to: .now) >= .milliseconds(600))
    let range = await failure { try await session.ask(.range(gates: [16])) }
    let status = await failure { try await session.ask(.status) }
    #expect(range == 420 && status == 420)
  }

  @Test("A8: calls to a device that was never there fail after the limit")
  func absent() async throws {
    let session = try AppSession.with(FakeDevice(isAlive: false), short)
    let asked = await failure { try await session.ask(.about("ada"), .choose) }
    #expect(asked == 420)
  }

  @Test("A8: a person may think longer than the limit while the device answers pings")
  func thinking() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try AppSession.with(device, short)
    device.connect()
    async let outcome = session.ask(.about("ada"), .choose)
    async let failed = failure { try await session.ask(.range(gates: [16])) }
    try await Task.sleep(for: .milliseconds(2_400))
    device.tell(.asked(Question.about("ada").id, .sent))
    #expect(try await outcome == .sent)
    device.tell(.age(2, .declined))
    device.tell(.age(1, .declined))
    #expect(await failed == nil)
  }

  @Test("A8: a cancelled call returns at once, also one that is cancelled before it starts")
  func cancelled() async throws {
    let device = FakeDevice(isAlive: false)
    let session = try AppSession.with(device, long)
    device.connect()
    let calls = [
      Task { _ = try await session.ask(.about("ada"), .choose) },
      Task { _ = try await session.ask(.range(gates: [16])) },
      Task { _ = try await session.ask(.acknowledge(description: "New chats")) },
    ]
    while device.requests.count < 4 { await Task.yield() }
    for call in calls {
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await session.ask(.about("ben"), .choose)
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  @Test("A8: the response to an abandoned question is delivered, and the question is not repeated")
  func late() async throws {
    let device = FakeDevice(isAlive: false)
    let session = try AppSession.with(device, short)
    device.connect()
    let question = Question.about("ada")
    let failed = await failure { try await session.ask(question, .choose) }
    #expect(failed == 420)
    let asks = device.requests.count { if case .ask = $0 { true } else { false } }
    device.disconnect()
    device.connect()
    device.tell(.attached(acknowledged: 0))
    device.tell(.reset(position: 0, known: []))
    device.tell(.asked(question.id, .answeredByDefault))
    device.tell(.entry(AppEntry(position: 1, body: .response(question, .decline))))
    let loop = session.openLoop(.communication)
    var deliveries = loop.deliveries.makeAsyncIterator()
    await loop.requestNext()
    #expect(await deliveries.next()?.question.id == question.id)
    #expect(asks == device.requests.count { if case .ask = $0 { true } else { false } })
  }

  @Test("A8: a late reply ends no call of a later question")
  func mixedUp() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try AppSession.with(device, short)
    device.connect()
    async let outcome = session.ask(.about("ben"), .choose)
    device.tell(.asked(Question.about("ada").id, .cancelled))
    try await Task.sleep(for: .milliseconds(100))
    device.tell(.asked(Question.about("ben").id, .sent))
    #expect(try await outcome == .sent)
  }
}

/// The decision when a call expires.
@Suite struct DeviceLivenessTests {
  private func seconds(_ count: Int) -> Duration { .seconds(count) }

  @Test("A8: pings a silent device, and expires a call after the limit")
  func silence() {
    var liveness = DeviceLiveness(limit: seconds(10), interval: seconds(2))
    #expect(liveness.deadline == nil)
    liveness.start(1, now: seconds(100))
    #expect(liveness.deadline == seconds(102))
    let pings = (101...104).map { liveness.ping(now: seconds($0)) }
    #expect(pings == [false, true, false, true])
    let early = liveness.expire(now: .milliseconds(109_999))
    let expired = liveness.expire(now: seconds(110))
    #expect(early == [] && expired == [1])
    #expect(liveness.deadline == nil)
  }

  @Test("A8: each message of the device starts the limit again")
  func alive() {
    var liveness = DeviceLiveness(limit: seconds(10), interval: seconds(2))
    liveness.start(1, now: .zero)
    for second in stride(from: 2, through: 3_600, by: 2) {
      let isPinged = liveness.ping(now: seconds(second))
      liveness.received(now: seconds(second))
      let expired = liveness.expire(now: seconds(second))
      #expect(isPinged && expired == [])
    }
    // A call that starts later than the last message has the whole limit.
    liveness.start(2, now: seconds(3_605))
    let expired = [seconds(3_610), seconds(3_615)].map { liveness.expire(now: $0) }
    #expect(expired == [[1], [2]])
  }
}
