import DeviceAgent
import FamilyModel
import Testing

@Suite struct QuestionWindowTests {
  private let second: UInt64 = 1_000_000_000
  private func id(_ number: Int) -> CommandID { CommandID(high: 1, low: UInt64(number)) }

  /// A relay that answers everything after `delay`, and refuses what comes beyond `room` on its way.
  private func most(of count: Int, room: Int) -> (onTheWay: Int, refused: Int) {
    var window = QuestionWindow<Int>()
    var (sent, refused, most) = ([Int](), 0, 0)
    for number in 0..<count { window.enqueue(id(number), number) }
    var now: UInt64 = 1
    ask(&window, now, &sent)
    while !sent.isEmpty {
      now += 1_000_000
      let turn = sent
      sent = []
      most = max(most, turn.count)
      for (index, number) in turn.enumerated() {
        if index >= room { refused += 1 }
        window.answered(id(number), wasOverloaded: index >= room, now: now)
      }
      ask(&window, now, &sent)
    }
    return (most, refused)
  }

  /// Sends the questions whose turn it is.
  private func ask(_ window: inout QuestionWindow<Int>, _ now: UInt64, _ sent: inout [Int]) {
    while let (question, number) = window.admit(now: now) {
      #expect(window.maySend(question, now: now) == true)
      sent.append(number)
    }
  }

  @Test("questions on their way are bounded, and those that wait all go, in order")
  func bounded() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    var sent: [Int] = []
    for number in 0..<first + 10 { window.enqueue(id(number), number) }
    ask(&window, 1, &sent)
    #expect(sent == Array(0..<first))
    #expect(window.waitingCount == 10 && !window.canAdmit)
    for number in 0..<10 {
      window.answered(id(number), wasOverloaded: false, now: 2)
      ask(&window, 2, &sent)
    }
    #expect(sent == Array(0..<first + 10))
    #expect(window.waitingCount == 0)
  }

  @Test("the window grows until the relay refuses, and is then about what the relay has room for")
  func window() {
    #expect(most(of: 10_000, room: .max) == (Int(QuestionWindow<Int>.window.maximum), 0))
    let (_, refused) = most(of: 10_000, room: 300)
    #expect(refused > 0 && refused < 1_000, "\(refused)")
  }

  @Test("answers and acknowledgements are never held back")
  func others() {
    var window = QuestionWindow<Int>()
    for number in 0..<1_000 { window.enqueue(id(number), number) }
    while window.admit(now: 1) != nil {}
    #expect(window.maySend(id(5_000), now: 1) == true)
  }

  @Test(
    "a question that wants its turn twice has it once, and room that is given back is another's")
  func turns() {
    var window = QuestionWindow<Int>()
    var turns: [Int] = []
    for _ in 0..<2 { for number in 0..<1_000 { window.enqueue(id(number), number) } }
    while let next = window.admit(now: 1) { turns.append(next.item) }
    #expect(turns == Array(0..<Int(QuestionWindow<Int>.window.initial)))
    window.release(id(7))
    window.release(id(7))
    #expect(window.admit(now: 1)?.item == turns.count)
    #expect(window.admit(now: 1) == nil)
    // What was sent is on its way, whatever its device says.
    #expect(window.maySend(id(8), now: 1) == true)
    window.release(id(8))
    #expect(window.admit(now: 1) == nil)
  }

  @Test(
    "a question that wants its turn anew takes up no room meanwhile, as after its device was away")
  func anew() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    for _ in 0..<2 {
      for number in 0..<first { window.enqueue(id(number), number) }
      var sent: [Int] = []
      ask(&window, 1, &sent)
      #expect(sent == Array(0..<first))
    }
  }

  @Test("what is never answered gives its room to others in the end")
  func forgotten() {
    var window = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.initial)
    for number in 0..<2 * first { window.enqueue(id(number), number) }
    var sent: [Int] = []
    ask(&window, second, &sent)
    ask(&window, 60 * second, &sent)
    #expect(sent == Array(0..<first))
    ask(&window, 61 * second, &sent)
    #expect(sent == Array(0..<2 * first))
  }

  @Test("a command goes out again only when its answer is late, by what answers took before")
  func again() {
    var window = QuestionWindow<Int>()
    #expect(window.maySend(id(1), now: second) == true)
    #expect(window.maySend(id(1), now: 2 * second - 1) == false)
    #expect(window.maySend(id(1), now: 2 * second) == true)
    // From the last time on: three seconds.
    window.answered(id(1), wasOverloaded: false, now: 5 * second)
    #expect(window.maySend(id(2), now: 6 * second) == true)
    #expect(window.maySend(id(2), now: 17 * second) == false)
    #expect(window.maySend(id(2), now: 18 * second) == true)
  }

  @Test("a new connection begins with nothing on its way, and what waits is bounded")
  func restart() {
    var window = QuestionWindow<Int>()
    let hasPlace = (0..<QuestionWindow<Int>.queueLimit + 1).map { window.enqueue(id($0), $0) }
    #expect(hasPlace.last == false && !hasPlace.dropLast().contains(false))
    #expect(window.waitingCount == QuestionWindow<Int>.queueLimit)
    while window.admit(now: 1) != nil {}
    window.restart()
    #expect(window.waitingCount == 0)
    window.enqueue(id(0), 0)
    #expect(window.admit(now: 1)?.item == 0)
  }
}
