import RelayFixture
import FamilyModel
import RelayPipeline
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct OverloadTests {
  @Test("admission sheds after a lasting backlog and reopens when a batch empties the queue")
  func admission() {
    var admission = Admission()
    for time: Int64 in [0, 100, 200] {
      admission.batchBegins(now: Instant(milliseconds: time))
      #expect(!admission.isShedding && admission.shedQuestion() == nil)
      admission.batchEnds(isQueueEmpty: false)
    }
    admission.batchBegins(now: Instant(milliseconds: 250))
    #expect(admission.isShedding)
    #expect((0..<100).compactMap { _ in admission.shedQuestion() }.allSatisfy { $0 == .seconds(1) })
    admission.batchEnds(isQueueEmpty: false)
    // The retry time grows with the duration of the overload, up to its limit.
    var waits: [Milliseconds] = []
    for time: Int64 in [5_250, 20_250, 1_000_000] {
      admission.batchBegins(now: Instant(milliseconds: time))
      waits.append((0..<20).compactMap { _ in admission.shedQuestion() }.last ?? .zero)
      admission.batchEnds(isQueueEmpty: false)
    }
    #expect(waits == [.seconds(5), .seconds(20), .seconds(30)])
    admission.batchBegins(now: Instant(milliseconds: 1_000_001))
    admission.batchEnds(isQueueEmpty: true)
    admission.batchBegins(now: Instant(milliseconds: 1_000_002))
    #expect(!admission.isShedding && admission.shedQuestion() == nil)
  }

  /// Simulates a relay with a capacity of 20 requests per millisecond and a load of `times` that
  /// capacity.
  ///
  /// - Returns: The used share of the capacity in the last ten seconds, and the longest backlog in
  ///   milliseconds.
  private func work(at times: Double) -> (share: Double, longest: Double) {
    let capacity = 20.0
    var admission = Admission()
    var (waiting, came, done, longest) = (0.0, 0.0, 0.0, 0.0)
    for time: Int64 in 0..<20_000 {
      admission.batchBegins(now: Instant(milliseconds: time))
      came += capacity * times
      while came >= 1 {
        came -= 1
        if admission.shedQuestion() == nil { waiting += 1 }
      }
      let now = min(waiting, capacity)
      waiting -= now
      if time >= 10_000 {
        done += now
        longest = max(longest, waiting / capacity)
      }
      admission.batchEnds(isQueueEmpty: waiting == 0)
    }
    return (done / (capacity * 10_000), longest)
  }

  @Test(
    "the admitted load converges to the relay's capacity under any overload",
    arguments: [1.0, 1.5, 3, 10])
  func share(times: Double) {
    let (share, longest) = work(at: times)
    #expect(share > 0.97, "\(share)")
    #expect(longest < 250, "\(longest)")
  }

  @Test(
    "an overloaded relay sheds questions early, keeps accepted ones, and recovers at once")
  func overload() async throws {
    let milliseconds = Mutex<UInt32>(0)
    let shared = Shared(milliseconds)
    let fixture = try await RelayFixture(maxRequestsInFlight: 8) { store in
      WatchedStore(store) { _ in
        let slow = shared.milliseconds.withLock { $0 }
        return slow > 0 ? .slow(milliseconds: slow) : nil
      }
    }
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    shared.milliseconds.withLock { $0 = 60 }
    let count: UInt64 = 160
    for number in 0..<count { try child.send(question(number)) }
    var (accepted, refused, isServed) = (0, 0, false)
    for _ in 0..<count {
      guard let reply = try child.receive()?.reply else { break }
      switch reply {
      case .accepted: accepted += 1
      case .refused(_, let problem):
        #expect(problem.code == Problem.overloaded.code && problem.retryAfter >= .seconds(1))
        refused += 1
        // Other requests are served during the overload.
        if refused == 1, case .page? = try guardian.ask(.fetch(.family, after: 0)) {
          isServed = true
        }
      default: Issue.record("\(reply)")
      }
    }
    #expect(accepted + refused == Int(count) && accepted > 20 && refused > 20 && isServed)
    #expect(await fixture.service.counters.shedQuestions == refused)
    shared.milliseconds.withLock { $0 = 0 }
    let id = CommandID.next
    guard case .accepted(id, _) = try child.ask(question(count, id)) else {
      Issue.record("the relay has not recovered")
      return
    }
    #expect(await fixture.service.counters.events == accepted + 2)
    try await fixture.stop()
  }

  private func question(_ number: UInt64, _ id: CommandID = .next) -> Request {
    let header = QuestionHeader(
      id: QuestionID(high: 5, low: number), child: PersonID(3), app: AppID("example.landmarks"),
      subjects: withUnsafeBytes(of: number) { Array($0) },
      choices: [ChoiceHeader(id: "approve", answer: .approval)], expiration: nil)
    return .command(id, .ask(header, .sealed([1])), nil)
  }

  private final class Shared: Sendable {
    let milliseconds: Mutex<UInt32>
    init(_ milliseconds: consuming Mutex<UInt32>) { self.milliseconds = milliseconds }
  }
}
