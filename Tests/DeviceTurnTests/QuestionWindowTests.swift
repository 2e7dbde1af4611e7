import FamilyModel
import Testing
import ZeroMQ

@testable import DeviceTurn

@Suite struct QuestionWindowTests {
  private let start = MonotonicInstant(nanoseconds: 1)
  private func second(_ number: Int) -> MonotonicInstant { .machineStart + .seconds(number) }
  private func id(_ number: Int) -> CommandID { CommandID(high: 1, low: UInt64(number)) }

  /// Simulates a relay that answers after a millisecond and refuses questions beyond `room` in
  /// flight.
  private func peak(of count: Int, room: Int) -> (inFlight: Int, refused: Int) {
    var window = QuestionWindow<Int>()
    var (sent, refused, peak) = ([Int](), 0, 0)
    for number in 0..<count { window.enqueue(id(number), number) }
    var now = start
    ask(&window, now, &sent)
    while !sent.isEmpty {
      now = now + .milliseconds(1)
      let turn = sent
      sent = []
      peak = max(peak, turn.count)
      for (index, number) in turn.enumerated() {
        if index >= room { refused += 1 }
        window.answered(id(number), wasOverloaded: index >= room, now: now)
      }
      ask(&window, now, &sent)
    }
    return (peak, refused)
  }

  /// Admits and sends as many questions as the window allows.
  private func ask(
    _ window: inout QuestionWindow<Int>, _ now: MonotonicInstant, _ sent: inout [Int]
  ) {
    while let (question, number) = window.admit(now: now) {
      #expect(window.maySend(question, now: now) == true)
      sent.append(number)
    }
  }

  @Test("questions in flight are bounded, and waiting ones are admitted in order")
  func bounded() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    var sent: [Int] = []
    for number in 0..<first + 10 { window.enqueue(id(number), number) }
    ask(&window, start, &sent)
    #expect(sent == Array(0..<first))
    #expect(window.waitingCount == 10 && !window.canAdmit)
    for number in 0..<10 {
      window.answered(id(number), wasOverloaded: false, now: start + Nanoseconds(1))
      ask(&window, start + Nanoseconds(1), &sent)
    }
    #expect(sent == Array(0..<first + 10))
    #expect(window.waitingCount == 0)
  }

  @Test("the window grows until a refusal and then stays near the relay's capacity")
  func window() {
    #expect(peak(of: 10_000, room: .max) == (Int(QuestionWindow<Int>.window.maximum), 0))
    let (_, refused) = peak(of: 10_000, room: 300)
    #expect(refused > 0 && refused < 1_000, "\(refused)")
  }

  @Test("commands other than questions never wait")
  func others() {
    var window = QuestionWindow<Int>()
    for number in 0..<1_000 { window.enqueue(id(number), number) }
    while window.admit(now: start) != nil {}
    #expect(window.maySend(id(5_000), now: start) == true)
  }

  @Test(
    "a question that requests admission twice is admitted once, and released room is reused")
  func turns() {
    var window = QuestionWindow<Int>()
    var turns: [Int] = []
    for _ in 0..<2 { for number in 0..<1_000 { window.enqueue(id(number), number) } }
    while let next = window.admit(now: start) { turns.append(next.item) }
    #expect(turns == Array(0..<Int(QuestionWindow<Int>.window.initial)))
    window.release(id(7))
    window.release(id(7))
    #expect(window.admit(now: start)?.item == turns.count)
    #expect(window.admit(now: start) == nil)
    // A sent question stays in flight and cannot be released.
    #expect(window.maySend(id(8), now: start) == true)
    window.release(id(8))
    #expect(window.admit(now: start) == nil)
  }

  @Test(
    "a question that requests admission again occupies no room, as after a reconnect")
  func readmits() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    for _ in 0..<2 {
      for number in 0..<first { window.enqueue(id(number), number) }
      var sent: [Int] = []
      ask(&window, start, &sent)
      #expect(sent == Array(0..<first))
    }
  }

  @Test("a question without a reply leaves the window after a timeout")
  func forgotten() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    for number in 0..<2 * first { window.enqueue(id(number), number) }
    var sent: [Int] = []
    ask(&window, second(1), &sent)
    ask(&window, second(60), &sent)
    #expect(sent == Array(0..<first))
    ask(&window, second(61), &sent)
    #expect(sent == Array(0..<2 * first))
  }

  @Test("a command is repeated only after the usual reply time")
  func again() {
    var window = QuestionWindow<Int>()
    #expect(window.maySend(id(1), now: second(1)) == true)
    #expect(window.maySend(id(1), now: second(2) - Nanoseconds(1)) == false)
    #expect(window.maySend(id(1), now: second(2)) == true)
    // The reply took three seconds since the last transmission.
    window.answered(id(1), wasOverloaded: false, now: second(5))
    #expect(window.maySend(id(2), now: second(6)) == true)
    #expect(window.maySend(id(2), now: second(17)) == false)
    #expect(window.maySend(id(2), now: second(18)) == true)
  }

  @Test("a new connection starts with nothing in flight, and its queue is bounded")
  func restart() {
    var window = QuestionWindow<Int>()
    let isEnqueued = (0..<QuestionWindow<Int>.queueLimit + 1).map { window.enqueue(id($0), $0) }
    #expect(isEnqueued.last == false && !isEnqueued.dropLast().contains(false))
    #expect(window.waitingCount == QuestionWindow<Int>.queueLimit)
    while window.admit(now: start) != nil {}
    window.restart()
    #expect(window.waitingCount == 0)
    window.enqueue(id(0), 0)
    #expect(window.admit(now: start)?.item == 0)
  }
}
