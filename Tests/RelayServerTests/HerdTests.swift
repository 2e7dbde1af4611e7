import FamilyModel
import Foundation
import RelayFixture
import RelayServer
import RelayStore
import RelayWire
import Synchronization
import Testing
import ZeroMQ

/// A restarted relay whose devices all return at once, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HerdTests {
  private static let families: UInt64 = 2_000
  /// Posts of each family.
  private static let posts = 59

  /// Lets loads pass while it is open.
  private final class Gate: Sendable {
    private let state = Mutex((isOpen: true, passed: 0))
    private let wakeups = DispatchSemaphore(value: 0)

    func close() { state.withLock { $0 = (false, 0) } }

    func open() {
      state.withLock { $0.isOpen = true }
      wakeups.signal()
    }

    /// Loads that waited or passed since the gate was closed.
    var arrivals: Int { state.withLock { $0.passed } }

    func pass() {
      let waits = state.withLock { state in
        state.passed += 1
        return !state.isOpen
      }
      guard waits else { return }
      wakeups.wait()
      if state.withLock({ $0.isOpen }) { wakeups.signal() }
    }

    /// Lets one waiting load pass.
    func passOne() { wakeups.signal() }
  }

  private func send(_ request: Request, in family: UInt64, _ peer: Peer, id: UInt64) throws {
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(30))
    try peer.sendRaw([[], Envelope(device: address, requestID: id, request: request).encode()])
  }

  @Test(
    "O8: families in memory are served while thousands wait to be read, and all are served then")
  func herd() async throws {
    let gate = Gate()
    var fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)[30]!
    try await fixture.stop()
    try StoredFamilies(families: 2...Self.families, posts: Self.posts).write(to: fixture.folder)
    fixture = try await RelayFixture(in: fixture.folder, maxFamilies: 100_000) { store in
      WatchedStore(
        store,
        failure: { read, _ in
          if read == .load { gate.pass() }
          return nil
        })
    } adjust: {
      $0.pipeline.requestsPerSlice = 128
      $0.pipeline.wakeThreshold = 48
    }
    let child = try fixture.peer(1, 30, keys)
    #expect(try child.ask(.attach([])) != nil)
    gate.close()
    let herd = try fixture.peer(2, 30, keys)
    // The devices that a refusal asks to return, with their times.
    var returns: [(family: UInt64, at: MonotonicInstant)] = []
    for family in 2...Self.families { try send(.attach([]), in: family, herd, id: family) }
    while gate.arrivals == 0 { try await Task.sleep(for: .milliseconds(1)) }
    // No load ends before all of these are answered, and committed.
    for number in 1...100 {
      #expect(try child.ask(.ping) != nil)
      let id = CommandID.next
      #expect(try child.post("\(number)", id: id) == .accepted(id, seq: UInt64(number) + 1))
    }
    #expect(await fixture.service.counters.familyLoads == 1)
    gate.open()
    var attached: Set<UInt64> = []
    while attached.count < Int(Self.families) - 1 {
      let now = MonotonicInstant.now
      for due in returns where due.at <= now {
        try send(.attach([]), in: due.family, herd, id: due.family)
      }
      returns.removeAll { $0.at <= now }
      guard let reply = try herd.receive(within: returns.isEmpty ? patience : .milliseconds(100))
      else {
        if returns.isEmpty { break }
        continue
      }
      switch reply.reply {
      case .attached: attached.insert(reply.device.family.rawValue)
      case .failed(let problem):
        #expect(problem.code == Problem.overloaded.code && problem.retryAfter > .zero)
        let wait = Nanoseconds.milliseconds(problem.retryAfter.count)
        returns.append((reply.device.family.rawValue, now + wait))
      default: Issue.record("\(reply)")
      }
    }
    #expect(attached.count == Int(Self.families) - 1)
    #expect(await fixture.service.counters.familyLoads == Int(Self.families))
    try await fixture.stop()
  }

  /// Families with long histories, each of which would have a snapshot.
  private static let longFamilies = 12
  private static let longPosts = 1_500

  /// Scale: 12 families of 1,500 events, for thousands of families of 20,000. Each load waits until
  /// the requests beside it are answered, so that no answer depends on the machine's speed.
  @Test("O8: between the loads of long histories, pings are answered and connections are made")
  func longHistories() async throws {
    let gate = Gate()
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    try await fixture.stop()
    let last = UInt64(Self.longFamilies) + 1
    try StoredFamilies(families: 2...last, posts: Self.longPosts).write(to: fixture.folder)
    fixture = try await RelayFixture(in: fixture.folder) { store in
      WatchedStore(
        store,
        failure: { read, _ in
          if read == .load { gate.pass() }
          return nil
        })
    }
    let child = try fixture.peer(1, 30, pairs[30])
    #expect(try child.ask(.attach([])) != nil)
    gate.close()
    let herd = try fixture.peer(2, 30, pairs[30])
    for family in 2...last { try herd.send(.attach([]), in: family) }
    for number in 1...Self.longFamilies {
      #expect(try await poll { gate.arrivals == number })
      #expect(try child.ask(.ping) != nil)
      // A handshake, a subscription and a broadcast need the socket thread.
      let guardian = try fixture.peer(1, 10, pairs[10])
      try guardian.attach()
      #expect(try guardian.broadcast() != nil)
      let id = CommandID.next
      #expect(try child.post("\(number)", id: id) == .accepted(id, seq: UInt64(number) + 1))
      #expect(try guardian.receives(seq: UInt64(number) + 1))
      #expect(try guardian.takeFailures().handshakes == 0)
      gate.passOne()
    }
    var attached: Set<UInt64> = []
    for _ in 1...Self.longFamilies {
      guard let reply = try herd.receive(), case .attached = reply.reply else { break }
      attached.insert(reply.device.family.rawValue)
    }
    #expect(attached == Set(2...last))
    #expect(try herd.takeFailures().handshakes == 0)
    #expect(await fixture.service.counters.familyLoads == Self.longFamilies + 1)
    let newest = Request.fetch(.conversation(PersonID(3)), after: UInt64(Self.longPosts))
    guard case .page(_, let events, more: false)? = try herd.ask(newest) else {
      Issue.record("no page")
      return
    }
    #expect(events.map(\.seq) == [UInt64(Self.longPosts) + 1])
    gate.open()
    try await fixture.stop()
  }
}
