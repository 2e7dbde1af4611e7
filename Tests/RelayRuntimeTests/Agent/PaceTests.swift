import FamilyModel
import RelayRuntime
import Testing

@Suite struct PaceTests {
  private let second: UInt64 = 1_000_000_000
  private func id(_ number: Int) -> CommandID { CommandID(high: 1, low: UInt64(number)) }

  /// A relay that answers everything after `delay`, and refuses what comes beyond `room` on its way.
  private func most(of count: Int, room: Int) -> (onTheWay: Int, refused: Int) {
    var pace = Pace<Int>()
    var (sent, refused, most) = ([Int](), 0, 0)
    for number in 0..<count {
      if pace.offer(id(number), isQuestion: true, 1, number) == .now { sent.append(number) }
    }
    var now: UInt64 = 1
    while !sent.isEmpty {
      now += 1_000_000
      let turn = sent
      sent = []
      most = max(most, turn.count)
      for (index, number) in turn.enumerated() {
        if index >= room { refused += 1 }
        pace.answered(id(number), isTooMuch: index >= room, now)
      }
      while let next = pace.next(now) { sent.append(next) }
    }
    return (most, refused)
  }

  @Test("questions on their way are bounded, and those that wait all go, in order")
  func bounded() {
    var pace = Pace<Int>()
    let first = Int(Pace<Int>.window.first)
    var sent = (0..<first + 10).filter { pace.offer(id($0), isQuestion: true, 1, $0) == .now }
    #expect(sent == Array(0..<first))
    #expect(pace.waitingCount == 10)
    #expect(pace.next(2) == nil)
    for number in 0..<10 {
      pace.answered(id(number), isTooMuch: false, 2)
      while let next = pace.next(2) { sent.append(next) }
    }
    #expect(sent == Array(0..<first + 10))
    #expect(pace.waitingCount == 0)
  }

  @Test("the window grows until the relay refuses, and is then about what the relay has room for")
  func window() {
    #expect(most(of: 10_000, room: .max) == (Int(Pace<Int>.window.most), 0))
    let (_, refused) = most(of: 10_000, room: 300)
    #expect(refused > 0 && refused < 1_000, "\(refused)")
  }

  @Test("answers and acknowledgements are never held back")
  func others() {
    var pace = Pace<Int>()
    for number in 0..<1_000 { _ = pace.offer(id(number), isQuestion: true, 1, number) }
    #expect(pace.offer(id(5_000), isQuestion: false, 1, 0) == .now)
  }

  @Test("a command goes out again only when its answer is late, by what answers took before")
  func again() {
    var pace = Pace<Int>()
    #expect(pace.offer(id(1), isQuestion: false, second, 1) == .now)
    #expect(pace.offer(id(1), isQuestion: false, 2 * second - 1, 1) == .later)
    #expect(pace.offer(id(1), isQuestion: false, 2 * second, 1) == .now)
    // From the last time on: three seconds.
    pace.answered(id(1), isTooMuch: false, 5 * second)
    #expect(pace.offer(id(2), isQuestion: true, 6 * second, 2) == .now)
    #expect(pace.offer(id(2), isQuestion: true, 17 * second, 2) == .later)
    #expect(pace.offer(id(2), isQuestion: true, 18 * second, 2) == .now)
  }

  @Test("a new connection begins with nothing on its way, and what waits is bounded")
  func restart() {
    var pace = Pace<Int>()
    let room = Int(Pace<Int>.window.first) + Pace<Int>.waitingMost
    let verdicts = (0..<room + 1).map { pace.offer(id($0), isQuestion: true, 1, $0) }
    #expect(verdicts.last == .never && !verdicts.dropLast().contains(.never))
    pace.restart()
    #expect(pace.waitingCount == 0)
    #expect(pace.offer(id(0), isQuestion: true, 2, 0) == .now)
  }
}
