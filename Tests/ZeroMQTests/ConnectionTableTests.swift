import Testing

@testable import ZeroMQ

@Suite struct ConnectionTableTests {
  private static let second: UInt64 = 1_000_000_000

  private func table(_ connections: Int = 4) -> ConnectionTable {
    ConnectionTable(
      ConnectionLimits(
        connections: connections, proven: .init(burst: 1_000, perSecond: 100),
        unproven: .init(burst: 200, perSecond: 10), unprovenTimeout: 30 * Self.second))
  }

  @Test("a connection above its burst, or above its rate, is removed") func bytes() {
    var table = table()
    for descriptor in [Int32(1), 2, 3] { table.accepted(descriptor, now: 0) }
    table.prove(2)
    #expect(table.removeExcessive(now: 1) { [1: 201, 2: 201, 3: 200][$0] } == [1])
    #expect(table.removeExcessive(now: 2) { [2: 1_000][$0] } == [])
    // Ten seconds at the rate, then above it.
    let later = 10 * Self.second
    #expect(table.removeExcessive(now: later) { [2: 1_990, 3: 290][$0] } == [])
    #expect(table.removeExcessive(now: later) { [2: 2_010, 3: 290][$0] } == [2])
    #expect(table.count == 1)
    table.remove(3)
    #expect(table.count == 0)
  }

  @Test(
    "a crowded table removes overdue unproven connections, and a full one the oldest first"
  )
  func many() {
    var table = table()
    for descriptor in [Int32(1), 2] { table.accepted(descriptor, now: 0) }
    let late = 30 * Self.second
    #expect(table.removeExcessive(now: late) { _ in nil } == [])
    table.prove(1)
    table.accepted(3, now: late)
    #expect(table.removeExcessive(now: late) { _ in nil } == [2])
    for descriptor in Int32(4)...8 { table.accepted(descriptor, now: late + UInt64(descriptor)) }
    table.prove(8)
    #expect(table.removeExcessive(now: late + 9) { _ in nil } == [3, 4, 5])
    #expect(table.count == 4)
  }
}
