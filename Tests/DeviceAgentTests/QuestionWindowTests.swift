import DeviceAgent
import FamilyModel
import Testing

@Suite struct QuestionWindowTests {
  private let second: UInt64 = 1_000_000_000
  private func id(_ number: Int) -> CommandID { CommandID(high: 1, low: UInt64(number)) }

  /// A relay that answers everything after `delay`, and refuses what comes beyond `room` on its way.
  private func most(of count: Int, room: Int) -> (onTheWay: Int, refused: Int) {
    var pace = QuestionWindow<Int>()
    var (sent, refused, most) = ([Int](), 0, 0)
    for number in 0..<count { pace.wait(id(number), number) }
    var now: UInt64 = 1
    ask(&pace, now, &sent)
    while !sent.isEmpty {
      now += 1_000_000
      let turn = sent
      sent = []
      most = max(most, turn.count)
      for (index, number) in turn.enumerated() {
        if index >= room { refused += 1 }
        pace.answered(id(number), isTooMuch: index >= room, now)
      }
      ask(&pace, now, &sent)
    }
    return (most, refused)
  }

  /// Sends the questions whose turn it is.
  private func ask(_ pace: inout QuestionWindow<Int>, _ now: UInt64, _ sent: inout [Int]) {
    while let (question, number) = pace.next(now) {
      #expect(pace.maySend(question, now) == true)
      sent.append(number)
    }
  }

  @Test("questions on their way are bounded, and those that wait all go, in order")
  func bounded() {
    var pace = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.first)
    var sent: [Int] = []
    for number in 0..<first + 10 { pace.wait(id(number), number) }
    ask(&pace, 1, &sent)
    #expect(sent == Array(0..<first))
    #expect(pace.waitingCount == 10 && !pace.hasNext)
    for number in 0..<10 {
      pace.answered(id(number), isTooMuch: false, 2)
      ask(&pace, 2, &sent)
    }
    #expect(sent == Array(0..<first + 10))
    #expect(pace.waitingCount == 0)
  }

  @Test("the window grows until the relay refuses, and is then about what the relay has room for")
  func window() {
    #expect(most(of: 10_000, room: .max) == (Int(QuestionWindow<Int>.window.most), 0))
    let (_, refused) = most(of: 10_000, room: 300)
    #expect(refused > 0 && refused < 1_000, "\(refused)")
  }

  @Test("answers and acknowledgements are never held back")
  func others() {
    var pace = QuestionWindow<Int>()
    for number in 0..<1_000 { pace.wait(id(number), number) }
    while pace.next(1) != nil {}
    #expect(pace.maySend(id(5_000), 1) == true)
  }

  @Test(
    "a question that wants its turn twice has it once, and room that is given back is another's")
  func turns() {
    var pace = QuestionWindow<Int>()
    var turns: [Int] = []
    for _ in 0..<2 { for number in 0..<1_000 { pace.wait(id(number), number) } }
    while let next = pace.next(1) { turns.append(next.item) }
    #expect(turns == Array(0..<Int(QuestionWindow<Int>.window.first)))
    pace.giveBack(id(7))
    pace.giveBack(id(7))
    #expect(pace.next(1)?.item == turns.count)
    #expect(pace.next(1) == nil)
    // What was sent is on its way, whatever its device says.
    #expect(pace.maySend(id(8), 1) == true)
    pace.giveBack(id(8))
    #expect(pace.next(1) == nil)
  }

  @Test(
    "a question that wants its turn anew takes up no room meanwhile, as after its device was away")
  func anew() {
    var pace = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.first)
    for _ in 0..<2 {
      for number in 0..<first { pace.wait(id(number), number) }
      var sent: [Int] = []
      ask(&pace, 1, &sent)
      #expect(sent == Array(0..<first))
    }
  }

  @Test("what is never answered gives its room to others in the end")
  func forgotten() {
    var pace = QuestionWindow<Int>()
    let first = Int(QuestionWindow<Int>.window.first)
    for number in 0..<2 * first { pace.wait(id(number), number) }
    var sent: [Int] = []
    ask(&pace, second, &sent)
    ask(&pace, 60 * second, &sent)
    #expect(sent == Array(0..<first))
    ask(&pace, 61 * second, &sent)
    #expect(sent == Array(0..<2 * first))
  }

  @Test("a command goes out again only when its answer is late, by what answers took before")
  func again() {
    var pace = QuestionWindow<Int>()
    #expect(pace.maySend(id(1), second) == true)
    #expect(pace.maySend(id(1), 2 * second - 1) == false)
    #expect(pace.maySend(id(1), 2 * second) == true)
    // From the last time on: three seconds.
    pace.answered(id(1), isTooMuch: false, 5 * second)
    #expect(pace.maySend(id(2), 6 * second) == true)
    #expect(pace.maySend(id(2), 17 * second) == false)
    #expect(pace.maySend(id(2), 18 * second) == true)
  }

  @Test("a new connection begins with nothing on its way, and what waits is bounded")
  func restart() {
    var pace = QuestionWindow<Int>()
    let hasPlace = (0..<QuestionWindow<Int>.waitingMost + 1).map { pace.wait(id($0), $0) }
    #expect(hasPlace.last == false && !hasPlace.dropLast().contains(false))
    #expect(pace.waitingCount == QuestionWindow<Int>.waitingMost)
    while pace.next(1) != nil {}
    pace.restart()
    #expect(pace.waitingCount == 0)
    pace.wait(id(0), 0)
    #expect(pace.next(1)?.item == 0)
  }
}
