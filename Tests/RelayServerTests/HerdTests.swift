import FamilyModel
import Foundation
import RelayFixture
import RelayServer
import RelayStore
import RelayWire
import SQLiteStore
import Synchronization
import Testing
import ZeroMQ

/// A restarted relay whose devices all return at once, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HerdTests {
  private static let families: UInt64 = 2_000
  /// Events of each family, which no snapshot shortens.
  private static let events: UInt64 = 60

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
      wakeups.signal()
    }
  }

  /// Gives each family but the first two a copy of the first family's roster, and a history.
  private func found(_ folder: URL) throws {
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    let roster = try store.load(FamilyID(1)).events[0]
    for first in stride(from: UInt64(2), through: Self.families, by: 100) {
      var batch = Batch()
      for family in first...min(first + 99, Self.families) {
        var copy = roster
        copy.family = FamilyID(family)
        batch.events.append(copy)
        batch.events += (2...Self.events).map { post($0, in: family, at: roster.at) }
      }
      try store.commit(batch)
    }
  }

  private func post(_ seq: UInt64, in family: UInt64, at: Instant) -> StoredEvent {
    let conversation = Audience.conversation(PersonID(3))
    let event = Event(
      seq: seq, previous: seq == 2 ? 0 : seq - 1, audience: conversation,
      command: CommandID(high: 1, low: seq), device: DeviceID(30), at: at,
      body: .posted(child: PersonID(3), .text("\(seq)")))
    return StoredEvent(
      family: FamilyID(family), seq: seq, audience: conversation, device: DeviceID(30),
      command: event.command, at: at, payload: event.encode())
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
    try found(fixture.folder)
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
}
