import Testing

@testable import ZeroMQ

@Suite struct ConnectionTableTests {
  private static let second: UInt64 = 1_000_000_000

  private func table(_ connections: Int = 4) -> ConnectionTable {
    ConnectionTable(
      ConnectionLimits(
        connections: connections, proven: .init(burst: 1_000, perSecond: 100),
        unproven: .init(burst: 200, perSecond: 10), patience: 30 * Self.second))
  }

  @Test("who takes more than the burst, and more than the rate, is cut off") func bytes() {
    var table = table()
    for descriptor in [Int32(1), 2, 3] { table.accepted(descriptor, now: 0) }
    table.prove(2)
    #expect(table.takeExcessive(now: 1) { [1: 201, 2: 201, 3: 200][$0] } == [1])
    #expect(table.takeExcessive(now: 2) { [2: 1_000][$0] } == [])
    // Ten seconds at the rate, and then some more.
    let later = 10 * Self.second
    #expect(table.takeExcessive(now: later) { [2: 1_990, 3: 290][$0] } == [])
    #expect(table.takeExcessive(now: later) { [2: 2_010, 3: 290][$0] } == [2])
    #expect(table.count == 1)
    table.gone(3)
    #expect(table.count == 0)
  }

  @Test(
    "where there are many, who proves nothing has to go; where there are too many, the oldest first"
  )
  func many() {
    var table = table()
    for descriptor in [Int32(1), 2] { table.accepted(descriptor, now: 0) }
    let late = 30 * Self.second
    #expect(table.takeExcessive(now: late) { _ in nil } == [])
    table.prove(1)
    table.accepted(3, now: late)
    #expect(table.takeExcessive(now: late) { _ in nil } == [2])
    for descriptor in Int32(4)...8 { table.accepted(descriptor, now: late + UInt64(descriptor)) }
    table.prove(8)
    #expect(table.takeExcessive(now: late + 9) { _ in nil } == [3, 4, 5])
    #expect(table.count == 4)
  }
}
