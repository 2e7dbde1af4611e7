import FamilyModel
import Foundation
import RelayFixture
import RelayServer
import Synchronization
import Testing
import ZeroMQ

/// Peers that do not read, or that send faster than the relay reads. Meanwhile another family is
/// served, and the bytes in the relay stay bounded.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SlowReaderTests {
  private static let child = PersonID(3)

  /// The time that each commit takes.
  private final class Disk: Sendable { let milliseconds = Mutex<UInt32>(0) }

  private func fixture(_ disk: Disk = Disk(), _ adjust: (inout QueueLimits) -> Void = { _ in })
    async throws -> RelayFixture
  {
    var queues = QueueLimits()
    adjust(&queues)
    return try await RelayFixture(
      overTCP: true,
      wrap: { store in
        WatchedStore(store) { _ in .slow(milliseconds: disk.milliseconds.withLock { $0 }) }
      }, adjust: { $0.queues = queues })
  }

  /// Whether a post of the child is accepted.
  private func isServed(_ child: Peer) throws -> Bool {
    let id = CommandID.next
    guard case .accepted(id, _) = try child.post("a short text", id: id) else { return false }
    return true
  }

  private func levels(_ fixture: RelayFixture) -> (unsent: Int, unread: Int) {
    let levels = fixture.service.meter.statistics().levels
    return (levels.unsentBytes ?? 0, levels.unreadBytes ?? 0)
  }

  private func resident() -> Int { ProcessMemory.resident }

  @Test("O4: devices that request pages and read none are limited and cut; others are served")
  func pages() async throws {
    let fixture = try await fixture { queues in
      queues.unsent = 2 << 20
      queues.stall = .seconds(2)
    }
    let (pairs, others) = (try fixture.createFamily(1), try fixture.createFamily(2))
    let writer = try fixture.peer(1, 30, pairs[30])
    for _ in 1...4 {
      let reply = try writer.ask(.largeQuestion())
      guard case .accepted? = reply else {
        Issue.record("the post was refused: \(String(describing: reply))")
        return
      }
    }
    let before = resident()
    let honest = try fixture.peer(2, 30, others[30])
    let readers = try (0..<8).map { number in
      let device: UInt32 = [10, 30][number % 2]
      return try fixture.peer(1, device, pairs[device], receiveQueue: 1)
    }
    var growth = 0
    for _ in 0..<40 {
      for reader in readers {
        for _ in 0..<5 { try reader.send(.fetch(.conversation(Self.child), after: 1)) }
      }
      #expect(try isServed(honest))
      growth = max(growth, resident() - before)
      // The connections before a cut count until the next check.
      #expect(levels(fixture).unsent < 2 * 8 * (4 << 20))
    }
    // Unlimited, the burst of both devices takes 400 MB.
    #expect(growth < 200 << 20, "\(growth >> 20) MB")
    // On a busy machine, the stall may cut the readers before a page is refused.
    #expect(
      try await poll {
        let counters = await fixture.service.counters
        return counters.refusedPages + counters.closedConnections > 0
      })
    #expect(try await poll { await fixture.service.counters.closedConnections > 0 })
    #expect(try isServed(honest))
    #expect(try await poll { levels(fixture).unsent < 1 << 20 })
    try await fixture.stop()
  }

  @Test("O4: a device that reads gets every page, however many it requests at once")
  func honest() async throws {
    let fixture = try await fixture { $0.unsent = 1 << 20 }
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    for _ in 1...3 {
      _ = try child.ask(.largeQuestion())
    }
    for _ in 0..<10 { try child.send(.fetch(.conversation(Self.child), after: 1)) }
    var (pages, refused) = (0, 0)
    while pages + refused < 10, let reply = try child.receive() {
      if case .page = reply.reply { pages += 1 } else { refused += 1 }
    }
    #expect(pages > 0 && pages + refused == 10)
    // A refused page is requested again.
    while pages < 10 {
      guard case .page? = try child.ask(.fetch(.conversation(Self.child), after: 1)) else {
        continue
      }
      pages += 1
    }
    #expect(await fixture.service.counters.closedConnections == 0)
    try await fixture.stop()
  }

  @Test("O4: a subscriber that does not read is cut; the others receive every broadcast")
  func subscriber() async throws {
    let fixture = try await fixture { $0.stall = .seconds(2) }
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let reader = try fixture.peer(1, 10, pairs[10])
    let stopped = try fixture.peer(1, 30, pairs[30], receiveQueue: 1)
    for peer in [child, reader, stopped] { try peer.attach() }
    _ = try reader.broadcast()
    let text = Content.sealed([UInt8](repeating: 7, count: 6 << 10))
    var sent = 0
    let isCut = try await poll {
      guard sent < 2_000 else {
        return await fixture.service.counters.closedConnections > 0
      }
      for _ in 0..<50 {
        try child.send(.command(.next, .post(child: Self.child, text)))
        sent += 1
      }
      for _ in 0..<50 { _ = try child.receive() }
      return await fixture.service.counters.closedConnections > 0
    }
    #expect(isCut)
    let id = CommandID.next
    guard case .accepted(id, let seq)? = try child.post("the last", id: id) else {
      Issue.record("the post was refused")
      return
    }
    #expect(try reader.receives(seq: seq))
    try await fixture.stop()
  }

  @Test("O4: a large event is announced, and its readers fetch it")
  func announcement() async throws {
    let fixture = try await fixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    try guardian.attach()
    guard case .accepted(_, let seq)? = try child.ask(.largeQuestion()) else {
      Issue.record("the question was refused")
      return
    }
    let audience = Audience.conversation(Self.child)
    while let broadcast = try guardian.broadcast() {
      if broadcast == .head(audience, seq: seq) { break }
      if case .event(let event) = broadcast { #expect(event.seq != seq) }
    }
    guard case .page(audience, let events, _)? = try guardian.ask(.fetch(audience, after: 1)) else {
      Issue.record("the page was refused")
      return
    }
    #expect(events.map(\.seq) == [seq])
    try await fixture.stop()
  }

  @Test("O4: connections of one key that flood a slow relay are cut; others are served")
  func flood() async throws {
    let disk = Disk()
    let fixture = try await fixture(disk) { $0.unreadTotal = 8 << 20 }
    let (pairs, others) = (try fixture.createFamily(1), try fixture.createFamily(2))
    let honest = try fixture.peer(2, 30, others[30])
    let flooders = try (0..<8).map { _ in try fixture.peer(1, 30, pairs[30]) }
    for flooder in flooders { try flooder.attach() }
    disk.milliseconds.withLock { $0 = 1_000 }
    var rounds = 0
    let isCut = try await poll {
      // Each connection stays below its own burst.
      if rounds < 60 {
        for flooder in flooders {
          try flooder.send(.largeQuestion())
        }
      }
      rounds += 1
      return await fixture.service.counters.closedConnections > 0
    }
    #expect(isCut)
    disk.milliseconds.withLock { $0 = 0 }
    #expect(try isServed(honest))
    #expect(try await poll { levels(fixture).unread < 8 << 20 })
    try await fixture.stop()
  }

  @Test("O4: one key has few connections")
  func connections() async throws {
    let fixture = try await fixture()
    let pairs = try fixture.createFamily(1)
    var peers: [Peer] = []
    for _ in 1...20 {
      let peer = try fixture.peer(1, 30, pairs[30])
      #expect(try peer.ask(.ping) != nil)
      peers.append(peer)
    }
    #expect(try await poll { await fixture.service.counters.closedConnections >= 4 })
    #expect(try peers.last!.ask(.ping) != nil)
    try await fixture.stop()
  }
}
