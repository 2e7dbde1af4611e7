import Testing

@testable import ZeroMQ

@Suite struct ConnectionTableTests {
  private let start = MonotonicInstant(nanoseconds: 0)

  private func table(_ connections: Int = 4) -> ConnectionTable {
    ConnectionTable(
      ConnectionLimits(
        connections: connections, proven: .init(burst: 1_000, perSecond: 100),
        unproven: .init(burst: 200, perSecond: 10), unprovenTimeout: .seconds(30)))
  }

  @Test("a connection above its burst, or above its rate, is removed") func bytes() {
    var table = table()
    for descriptor in [Int32(1), 2, 3] { table.accepted(descriptor, now: start) }
    table.settle()
    table.prove(2, receivedIn: table.epoch)
    #expect(
      table.removeBusy(now: start + Nanoseconds(1)) { [1: 201, 2: 201, 3: 200][$0] } == [1])
    #expect(table.removeBusy(now: start + Nanoseconds(2)) { [2: 1_000][$0] } == [])
    // Ten seconds at the rate, then above it.
    let later = start + .seconds(10)
    #expect(table.removeBusy(now: later) { [2: 1_990, 3: 290][$0] } == [])
    #expect(table.removeBusy(now: later) { [2: 2_010, 3: 290][$0] } == [2])
    #expect(table.count == 1)
    table.remove(3)
    #expect(table.count == 0)
  }

  @Test("X2: a late message of an ended connection does not prove the next one of its descriptor")
  func reuse() {
    // One connection fits, and an unproven one has to leave first.
    func survives(_ prove: (inout ConnectionTable) -> Void) -> Bool {
      var table = table(1)
      table.accepted(1, now: start)
      table.settle()
      let first = table.epoch
      table.remove(1)
      table.accepted(1, now: start)
      // Received before the end of the first connection, or before its last message was received.
      table.prove(1, receivedIn: first)
      table.settle()
      table.prove(1, receivedIn: first)
      prove(&table)
      table.accepted(2, now: start + Nanoseconds(1))
      table.settle()
      table.prove(2, receivedIn: table.epoch)
      table.accepted(3, now: start + Nanoseconds(2))
      return table.removeBusy(now: start + .seconds(1)) { _ in nil } == [3, 1]
    }
    #expect(!survives { _ in })
    #expect(survives { $0.prove(1, receivedIn: $0.epoch) })
  }

  @Test(
    "a crowded table removes overdue unproven connections, and a full one the oldest first"
  )
  func many() {
    var table = table()
    for descriptor in [Int32(1), 2] { table.accepted(descriptor, now: start) }
    let late = start + .seconds(30)
    #expect(table.removeBusy(now: late) { _ in nil } == [])
    table.settle()
    table.prove(1, receivedIn: table.epoch)
    table.accepted(3, now: late)
    #expect(table.removeBusy(now: late) { _ in nil } == [2])
    for descriptor in Int32(4)...8 {
      table.accepted(descriptor, now: late + .nanoseconds(descriptor))
    }
    table.settle()
    table.prove(8, receivedIn: table.epoch)
    #expect(table.removeBusy(now: late + Nanoseconds(9)) { _ in nil } == [3, 4, 5])
    #expect(table.count == 4)
  }
}

extension ConnectionTable {
  /// Removes the excessive connections with these total received bytes.
  fileprivate mutating func removeBusy(now: MonotonicInstant, received: (Int32) -> UInt64?)
    -> [Int32]
  {
    removeExcessive(now: now, traffic: { SocketTraffic(received: received($0)) })
  }
}
