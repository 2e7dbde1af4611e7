import Testing

@testable import ZeroMQ

@Suite struct ConnectionQueuesTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private let limits = QueueLimits(
    unsent: 1_000, unsentBroadcasts: 800, unsentMaximum: 4_000, unsentTotal: 10_000,
    unreadMaximum: 2_000, unreadTotal: 5_000, stall: .seconds(15), stallBytes: 100)

  private func table(_ count: Int32 = 4) -> ConnectionTable {
    let bytes = ConnectionLimits.Bytes(burst: 1 << 30, perSecond: 1)
    var table = ConnectionTable(
      ConnectionLimits(
        connections: 100, perOwner: 2, proven: bytes, unproven: bytes,
        unprovenTimeout: .seconds(30), queues: limits, unfinished: .seconds(2)))
    for descriptor in 1...count { table.accepted(descriptor, now: start) }
    return table
  }

  private func tcp(
    _ acknowledged: UInt64, received: UInt64 = 1, pending: Int = 1, isBlocked: Bool = false
  ) -> SocketTraffic {
    SocketTraffic(
      received: received, acknowledged: acknowledged, pending: pending, isBlocked: isBlocked)
  }

  @Test("O4: unsent bytes are those that the peer has not acknowledged; above the limit it is cut")
  func unsent() {
    var table = table(2)
    table.move(1, sent: 4_000, read: 0)
    table.move(2, sent: 4_000, read: 0)
    #expect(table.removeExcessive(now: start, traffic: { _ in tcp(1) }) == [])
    #expect(table.unsent(of: 1) == 3_999)
    table.move(1, sent: 2, read: 0)
    table.move(2, sent: 2, read: 0)
    #expect(table.removeExcessive(now: start, traffic: { $0 == 1 ? tcp(1) : tcp(3_000) }) == [1])
    #expect(table.unsent == 1_002)
    // More bytes than were counted, such as those of a handshake, leave no debt.
    #expect(table.removeExcessive(now: start, traffic: { _ in tcp(9_000) }) == [])
    #expect(table.unsent == 0)
    table.move(2, sent: 10, read: 0)
    #expect(table.unsent == 10)
  }

  @Test("O4: bytes that a connection cannot have end with a report of an idle kernel")
  func idle() {
    var table = table(1)
    func unsent(after report: SocketTraffic) -> Int {
      table.update(1, report, now: start)
      return table.unsent(of: 1)
    }
    table.move(1, sent: 500, read: 0)
    // libzmq may not have passed new bytes to the kernel, which may not have sent others.
    #expect(unsent(after: tcp(0, pending: 0)) == 500)
    #expect(unsent(after: tcp(100, pending: 0)) == 400)
    #expect(unsent(after: tcp(100, pending: 1)) == 400)
    #expect(unsent(after: tcp(100, pending: 0)) == 0)
  }

  @Test("O4: above the total, the connections with the most unsent bytes are cut first")
  func total() {
    var table = table(4)
    for (descriptor, bytes) in [Int32(1): 1_500, 2: 3_900, 3: 3_800, 4: 900] {
      table.move(descriptor, sent: bytes, read: 0)
    }
    #expect(table.removeExcessive(now: start, traffic: { _ in tcp(1) }) == [])
    let largest = table.removeLargestQueues()
    #expect(largest == [2])
    #expect(table.unsent < 7_500)
    #expect(limits.share(total: 0) == 1_000 && limits.share(total: 9_000) == 250)
    #expect(limits.share(total: 20_000) == 0)
    table.isUnderPressure = true
    #expect(table.removeExcessive(now: start, traffic: { _ in tcp(1) }).sorted() == [1, 3, 4])
  }

  /// Two tables, with these unsent bytes of connections.
  private func sockets(_ first: [Int], _ second: [Int]) -> (ConnectionTable, ConnectionTable) {
    func socket(_ bytes: [Int]) -> ConnectionTable {
      var table = table(Int32(bytes.count))
      for (index, sent) in bytes.enumerated() { table.move(Int32(index + 1), sent: sent, read: 0) }
      return table
    }
    return (socket(first), socket(second))
  }

  @Test("O4: replies and broadcasts are cut above one total, and each socket keeps a part of it")
  func sharedTotal() {
    func cut(_ first: [Int], _ second: [Int]) -> (first: [Int32], second: [Int32], rest: Int) {
      var (replies, broadcasts) = sockets(first, second)
      let removed = replies.removeLargestQueues(besides: broadcasts.unsent)
      let others = broadcasts.removeLargestQueues(besides: replies.unsent)
      return (removed, others, replies.unsent + broadcasts.unsent)
    }
    let within = cut([3_000, 2_000], [4_000, 1_000])
    #expect(within.first == [] && within.second == [] && within.rest == 10_000)
    // Neither exceeds the total alone.
    let above = cut([3_500, 2_500, 900], [3_000, 200])
    #expect(above.first == [1] && above.second == [] && above.rest == 6_600)
    let mirrored = cut([3_000, 200], [3_500, 2_500, 900])
    #expect(mirrored.first == [] && mirrored.second == [1] && mirrored.rest == 6_600)
    // The socket with few bytes keeps its connections.
    let flood = cut([100, 200], [4_000, 4_000, 4_000])
    #expect(flood.first == [] && flood.second == [3, 2] && flood.rest == 4_300)
    let both = cut([4_000, 4_000, 500], [4_000, 4_000, 500])
    #expect(both.first == [2, 1] && both.second == [] && both.rest == 9_000)
  }

  @Test("O4: the totals are parts of the memory, but suffice for the largest queue of one peer")
  func memory() {
    let limits = QueueLimits()
    #expect(limits.within(memory: 0) == limits && limits.within(memory: 1 << 40) == limits)
    let small = limits.within(memory: 256 << 20)
    #expect(small.unsentTotal == 64 << 20 && small.unreadTotal == 32 << 20)
    let smallest = limits.within(memory: 1_600)
    #expect(smallest.unsentTotal == 32 << 20 && smallest.unreadTotal == 32 << 20)
    let short = smallest.underPressure
    #expect(short.unsentTotal == 4 << 20 && short.unsentTotal == short.unsentMaximum)
    #expect(short.unreadTotal == 8 << 20 && short.unreadTotal == short.unreadMaximum)
    #expect(limits.unsentBroadcasts == 1 << 20 && short.unsentBroadcasts == 128 << 10)
  }

  @Test("O4: after a megabyte, or above its share, a connection's report is due")
  func reports() {
    var table = table(1)
    func isDue(share: Int = .max) -> Bool { table.isReportDue(1, above: share) }
    table.move(1, sent: 1_000, read: 0)
    #expect(!isDue() && !isDue(share: 1_000) && isDue(share: 999))
    table.move(1, sent: 1 << 20, read: 0)
    #expect(isDue())
    table.update(1, SocketTraffic(pending: 1, isBlocked: false), now: start)
    #expect(!isDue() && table.unsent == 0)
    #expect(!table.isReportDue(2, above: 0))
  }

  @Test("O4: a peer that reads too little while bytes wait is cut after the time of a stall")
  func stall() {
    var table = table(4)
    func check(_ seconds: Int, _ slow: UInt64) -> [Int32] {
      table.removeExcessive(now: start + .seconds(seconds)) { descriptor in
        switch descriptor {
        // Reads nothing; reads slowly; reads enough; has nothing to read.
        case 1: tcp(5, isBlocked: true)
        case 2: tcp(slow, isBlocked: true)
        case 3: tcp(UInt64(seconds) * 100, isBlocked: true)
        default: tcp(5)
        }
      }
    }
    #expect(check(0, 5) == [] && check(14, 80) == [])
    #expect(check(15, 99).sorted() == [1, 2])
    #expect(check(40, 0) == [])
  }

  @Test("O4: a Unix socket's peer is cut if the kernel's buffer stays full and unchanged")
  func local() {
    var table = table(2)
    func check(_ seconds: Int, _ traffic: SocketTraffic) -> [Int32] {
      table.removeExcessive(now: start + .seconds(seconds)) { $0 == 1 ? traffic : nil }
    }
    // Above the limit of one connection, which a fast reader may exceed.
    table.move(1, sent: 5_000, read: 0)
    #expect(check(0, SocketTraffic(pending: 9, isBlocked: true)) == [])
    #expect(table.unsent(of: 1) == 5_000)
    #expect(check(14, SocketTraffic(pending: 8, isBlocked: true)) == [])
    #expect(check(20, SocketTraffic(pending: 8, isBlocked: false)) == [] && table.unsent == 0)
    #expect(check(21, SocketTraffic(pending: 8, isBlocked: true)) == [])
    #expect(check(36, SocketTraffic(pending: 8, isBlocked: true)) == [1])
  }

  @Test("O4: under pressure, a Unix socket's peer that sends faster than the process reads is cut")
  func backlog() {
    var table = table(2)
    let flood = SocketTraffic(backlog: 100 << 10)
    func check() -> [Int32] {
      table.removeExcessive(now: start) { $0 == 1 ? flood : SocketTraffic(backlog: 4 << 10) }
    }
    #expect(check() == [])
    table.isUnderPressure = true
    #expect(check() == [1])
    #expect(check() == [] && table.count == 1)
  }

  @Test("O4: with critical memory, a Unix socket's peer that completes no message is cut")
  func unfinished() {
    var table = table(3)
    func check(_ seconds: Int) -> [Int32] {
      table.removeExcessive(now: start + .seconds(seconds)) { $0 == 3 ? tcp(1) : SocketTraffic() }
    }
    #expect(check(0) == [] && check(100) == [])
    (table.isUnderPressure, table.isCritical) = (true, true)
    table.accepted(4, now: start + .seconds(100))
    table.move(2, sent: 0, read: 5)
    #expect(check(101) == [1])
    #expect(check(102) == [])
    table.move(4, sent: 0, read: 5)
    #expect(check(103) == [2])
    #expect(check(104) == [] && table.count == 2)
  }

  @Test("O4: received bytes that the process has not read are bounded for each peer and in total")
  func unread() {
    var table = table(4)
    func check(_ received: [Int32: UInt64]) -> [Int32] {
      table.removeExcessive(now: start) { tcp(1, received: received[$0] ?? 0) }
    }
    #expect(check([1: 2_000, 2: 1_000]) == [] && table.unread == 3_000)
    table.move(1, sent: 0, read: 1_500)
    #expect(check([1: 3_500, 2: 1_000]) == [] && table.unread == 3_000)
    #expect(check([1: 3_501, 2: 1_000]) == [1])
    // The connections with the most bytes are cut above the total.
    #expect(check([2: 1_900, 3: 1_800, 4: 1_700]) == [])
    // Unsent bytes have a total of their own.
    let largest = table.removeLargestQueues(besides: 1 << 20)
    #expect(largest == [2])
    table.settle()
    #expect(check([3: 1_900, 4: 1_900]) == [] && table.unread == 0)
  }

  @Test("O4: an owner above its number of connections loses the oldest") func owners() {
    var table = table(4)
    for descriptor: Int32 in [1, 2, 3] { table.setOwner(of: descriptor, "key") }
    table.setOwner(of: 4, "other")
    #expect(table.isCrowded(by: "key") && !table.isCrowded(by: "other"))
    #expect(table.removeExcessive(now: start, traffic: { _ in nil }).count == 1)
    #expect(!table.isCrowded(by: "key"))
    table.remove(4)
    table.accepted(4, now: start)
    #expect(table.removeExcessive(now: start, traffic: { _ in nil }) == [] && table.count == 3)
  }
}
