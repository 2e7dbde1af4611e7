import FamilyCore
import FamilyModel
import LoadFamilies
import RelayStore
import Testing
import ZeroMQ
@testable import load

@Suite struct PlanTests {
  private func plan(_ seed: UInt64, first: UInt64 = 0) -> [Arrival] {
    Array(
      LoadPlan(
        seed: seed, rate: 1_000, seconds: 10, families: 50, mix: Mix(Mix.standard)!, first: first))
  }

  @Test("the seed determines all arrivals") func seeded() {
    #expect(plan(7) == plan(7))
    #expect(plan(7) != plan(8))
    #expect(plan(7, first: 1 << 40).map(\.at) != plan(7).map(\.at))
  }

  @Test("arrivals are ordered, have the rate, and cover all families and kinds") func shape() {
    let arrivals = plan(1)
    #expect(arrivals.map(\.at) == arrivals.map(\.at).sorted())
    #expect(Set(arrivals.map(\.number)).count == arrivals.count)
    // Five standard deviations of a Poisson process.
    #expect((9_500...10_500).contains(arrivals.count))
    #expect(Set(arrivals.map(\.family)) == Set(1...50))
    #expect(Set(arrivals.map(\.kind)) == Set(Kind.allCases))
    // 63 % of exponential gaps are shorter than the mean.
    let gaps = zip(arrivals.dropFirst(), arrivals).map { $0.at - $1.at }
    let short = Double(gaps.count { $0 < .milliseconds(1) }) / Double(gaps.count)
    #expect((0.60...0.66).contains(short))
  }

  @Test("reports the workers as the limit if they missed the rate on a saturated machine")
  func limit() {
    var machine = Results.Machine()
    machine.cores = 4
    func isLimit(done: Double, relay: Double, workers: Double) -> Bool {
      Results.Step(
        offered: 1_000, achieved: done, approvals: Percentiles(Latency.histogram()), unfinished: 0,
        holds: nil, relayCores: relay, workerCores: workers
      ).isLimitedByDevices(of: machine)
    }
    #expect(isLimit(done: 500, relay: 0.4, workers: 3))
    #expect(!isLimit(done: 990, relay: 0.4, workers: 3))
    #expect(!isLimit(done: 500, relay: 0.4, workers: 2))
    #expect(!isLimit(done: 500, relay: 2, workers: 1.5))
  }

  @Test("parses objectives and mixes and rejects invalid ones") func texts() {
    #expect(Objective("p99=50ms")?.limit == 50)
    #expect(Objective("p99.9=2s")?.limit == 2_000)
    for text in ["p99", "99=50ms", "p100=5ms", "p99=0ms", "p99=5"] {
      #expect(Objective(text) == nil)
    }
    #expect(Mix("approve=1,race=2")?.text == "approve=1,race=2")
    for text in ["", "approve", "approve=0", "approve=-1", "never=1"] { #expect(Mix(text) == nil) }
  }
}

@Suite struct SimulatedUsersTests {
  private let child = DeviceAddress(family: FamilyID(4), device: FamilyFactory.child)
  private let arrival = Arrival(number: 1, at: .zero, family: 4, kind: .approve, random: 0)

  @Test("measures a late question from its planned time") func late() {
    let users = SimulatedUsers(deviceCount: 3, recorder: HistoryRecorder(every: 0))
    _ = users.begin(arrival, scheduled: .now - .seconds(2))
    let lag = users.takeSamples().0.first { $0.measure == .lag }
    #expect(lag.map { $0.value >= 2_000_000 } ?? false)
  }

  @Test(
    "X2: fails if the store lacks an acknowledged command, with and without a complete history",
    arguments: [0, 1] as [UInt64])
  func lost(_ every: UInt64) throws {
    let users = SimulatedUsers(deviceCount: 3, recorder: HistoryRecorder(every: every))
    users.received(Reply.accepted(ID128(high: 1, low: 2), seq: 9), on: child)
    let result = try users.check(MemoryEventStore(), [:])
    #expect(!result.isCorrect && result.acknowledgements == 1)
    #expect(result.examples.first?.contains("nothing acknowledged is lost") ?? false)
  }

  @Test("R3, R4: fails if an app receives a different answer than the guardian gave")
  func wrongAnswer() {
    let users = SimulatedUsers(deviceCount: 3, recorder: HistoryRecorder(every: 0))
    _ = users.begin(arrival, scheduled: .now)
    let question = LoadQuestion.make(arrival)
    func tell(_ choice: Choice, at position: UInt64) {
      let entry = AppEntry(position: position, body: .response(question, choice))
      _ = users.received(.entry(entry), by: SimulatedUsers.app, on: child)
    }
    _ = users.received(.attached(acknowledged: 0), by: SimulatedUsers.app, on: child)
    tell(.approve, at: 1)
    #expect(users.takeSamples().1.wrongAnswers == 0)
    _ = users.begin(arrival, scheduled: .now)
    tell(.decline, at: 2)
    #expect(users.takeSamples().1.wrongAnswers == 1)
  }
}
