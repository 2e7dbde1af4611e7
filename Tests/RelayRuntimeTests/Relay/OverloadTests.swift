import FamilyModel
import RelayRuntime
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct OverloadTests {
  @Test("a relay is full when no batch has emptied the queue for a while, and open when one has")
  func admission() {
    var admission = Admission(questionsPerBatch: 2)
    for time: Int64 in [0, 100, 200] {
      admission.batchBegins(time)
      #expect(!admission.isFull && admission.refusal() == nil)
      admission.batchEnds(isQueueEmpty: false)
    }
    admission.batchBegins(250)
    #expect(admission.isFull)
    #expect(admission.refusal() == nil && admission.refusal() == nil)
    #expect(admission.refusal() == 1_000)
    admission.batchEnds(isQueueEmpty: false)
    // The longer it lasts, the longer are the waits that are asked for, up to a bound.
    var waits: [UInt32] = []
    for time: Int64 in [5_000, 20_000, 1_000_000] {
      admission.batchBegins(time)
      waits.append((0..<3).compactMap { _ in admission.refusal() }.last ?? 0)
      admission.batchEnds(isQueueEmpty: false)
    }
    #expect(waits == [5_000, 20_000, 30_000])
    admission.batchBegins(1_000_001)
    admission.batchEnds(isQueueEmpty: true)
    admission.batchBegins(1_000_002)
    #expect(!admission.isFull && admission.refusal() == nil)
  }

  @Test(
    "past its capacity the relay refuses questions early, keeps what it took, and recovers at once")
  func overload() async throws {
    let milliseconds = Mutex<UInt32>(0)
    let shared = Shared(milliseconds)
    let rig = try await Rig(batchRequests: 8) { store in
      WatchedStore(store) {
        let slow = shared.milliseconds.withLock { $0 }
        return slow > 0 ? .slow(milliseconds: slow) : nil
      }
    }
    let pairs = try rig.found(1)
    let child = try rig.peer(1, 30, pairs[30])
    let guardian = try rig.peer(1, 10, pairs[10])
    shared.milliseconds.withLock { $0 = 60 }
    let count: UInt64 = 160
    for number in 0..<count { try child.send(question(number)) }
    var (accepted, refused, isServed) = (0, 0, false)
    for _ in 0..<count {
      guard let reply = try child.receive()?.reply else { break }
      switch reply {
      case .accepted: accepted += 1
      case .refused(_, let problem):
        #expect(problem.code == Problem.overloaded.code && problem.retryAfter >= 1_000)
        refused += 1
        // Others are served all the while.
        if refused == 1, case .page? = try guardian.ask(.fetch(.family, after: 0)) {
          isServed = true
        }
      default: Issue.record("\(reply)")
      }
    }
    #expect(accepted + refused == Int(count) && accepted > 20 && refused > 20 && isServed)
    #expect(await rig.service.counters.overloads == refused)
    shared.milliseconds.withLock { $0 = 0 }
    let id = CommandID.random
    guard case .accepted(id, _) = try child.ask(question(count, id)) else {
      Issue.record("the relay has not recovered")
      return
    }
    #expect(await rig.service.counters.events == accepted + 2)
    try await rig.stop()
  }

  private func question(_ number: UInt64, _ id: CommandID = .random) -> Request {
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
