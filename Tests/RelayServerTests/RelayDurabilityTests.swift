import RelayServer
import RelayFixture
import FamilyModel
import SQLiteStore
import Synchronization
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(10))) struct RelayDurabilityTests {
  @Test("A3: accepted commands survive a restart, and a repeated command gets the same reply")
  func durable() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let id = CommandID.next
    var child = try fixture.peer(1, 30, pairs[30])
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    try await fixture.stop()
    fixture = try await RelayFixture(in: fixture.folder)
    child = try fixture.peer(1, 30, pairs[30])
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    #expect(try child.texts() == ["hello"])
    #expect(await fixture.service.counters.events == 0)
    try await fixture.stop()
  }

  @Test("F3: a wrong key, an unknown device and an unknown family all get problem 200")
  func wrongKey() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let foreign = try fixture.peer(1, 30, pairs[50])
    #expect(try foreign.ask(.ping) == .failed(.notEnrolled))
    #expect(try fixture.peer(1, 31, pairs[30]).ask(.ping) == .failed(.notEnrolled))
    #expect(try fixture.peer(2, 30, pairs[30]).ask(.ping) == .failed(.notEnrolled))
    #expect(try fixture.peer(1, 0, pairs[10]).ask(.ping) == .failed(.notEnrolled))
    let id = CommandID.next
    #expect(try foreign.post("no", id: id) == .refused(id, .notEnrolled))
    #expect(try fixture.peer(1, 30, pairs[30]).ask(.ping) != .failed(.notEnrolled))
    try await fixture.stop()
  }

  @Test("X2: replies and broadcasts are sent only after the commit") func persistBeforeSend()
    async throws
  {
    let mode = Mutex<WatchedStore.Mode?>(nil)
    let shared = Shared(mode)
    let fixture = try await RelayFixture { store in
      let settings = try? store.settings()
      #expect(settings?.synchronous == 2 && settings?.journal == "wal")
      return WatchedStore(store) { _ in shared.mode.withLock { $0 } }
    }
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    try guardian.attach()
    #expect(try guardian.broadcast() != nil)
    shared.mode.withLock { $0 = .slow(milliseconds: 400) }
    try child.send(.command(.next, .post(child: PersonID(3), .text("slow"))))
    #expect(try child.receive(within: .milliseconds(250)) == nil)
    #expect(try child.receive() != nil)
    #expect(try guardian.event() != nil)
    // A failed commit stops the relay, and no output of the batch is sent.
    shared.mode.withLock { $0 = .failing }
    try child.send(.command(.next, .post(child: PersonID(3), .text("lost"))))
    #expect(await fixture.failure() != nil)
    #expect(try child.receive(within: .milliseconds(200)) == nil)
    // The unacknowledged event before it may be republished.
    while let event = try guardian.event(within: .milliseconds(200)) {
      #expect(event.seq == 2 || event.seq == 1)
    }
    let again = try await RelayFixture(in: fixture.folder)
    #expect(try again.peer(1, 30, pairs[30]).texts() == ["slow"])
    try await again.stop()
  }

  final class Shared: Sendable {
    let mode: Mutex<WatchedStore.Mode?>
    init(_ mode: consuming Mutex<WatchedStore.Mode?>) { self.mode = mode }
  }

  @Test("X1: a REQ socket can be a client") func plainClient() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30], .req)
    let id = CommandID.next
    #expect(try child.post("req", id: id) == .accepted(id, seq: 2))
    #expect(try child.texts() == ["req"])
    try await fixture.stop()
  }

  @Test("R1, M5: members receive events, and fetch missed ones in order across pages")
  func deliver() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let guardian = try fixture.peer(1, 10, pairs[10])
    let child = try fixture.peer(1, 30, pairs[30])
    let count = Limits.pageEvents + 50
    // Ids ascend as devices create them: the relay looks up the result of an older id in the store.
    for number in 0..<count {
      let id = CommandID(high: 1, low: UInt64(number))
      #expect(try child.post("\(number)", id: id) == .accepted(id, seq: UInt64(number) + 2))
    }
    var texts = try guardian.texts()
    #expect(texts.count == Limits.pageEvents)
    texts += try guardian.texts(after: UInt64(texts.count) + 1)
    #expect(texts == (0..<count).map { "\($0)" })
    let last = UInt64(count) + 1
    try guardian.attach([
      Cursor(.family, delivered: 1), Cursor(.conversation(PersonID(3)), delivered: last),
    ])
    #expect(guardian.channels[.conversation(PersonID(3))]?.head == last)
    while try guardian.broadcast(within: .milliseconds(200)) != nil {}
    _ = try child.post("live")
    #expect(try guardian.event()?.seq == last + 1)
    // The event is republished until it is acknowledged.
    #expect(try guardian.event()?.seq == last + 1)
    #expect(await fixture.service.counters.republished > 0)
    try guardian.send(.acknowledge([Cursor(.conversation(PersonID(3)), delivered: last + 1)]))
    #expect(try guardian.ask(.ping) != nil)
    while try guardian.event(within: .milliseconds(50)) != nil {}
    #expect(try guardian.event(within: .milliseconds(1_200)) == nil)
    try await fixture.stop()
  }

  @Test("X2: an evicted family is loaded with all its cursors and commands")
  func evict() async throws {
    let fixture = try await RelayFixture(maxFamilies: 2)
    var pairs: [UInt64: [UInt32: CurveKeyPair]] = [:]
    for family in 1...UInt64(8) { pairs[family] = try fixture.createFamily(family) }
    for round in 0..<3 {
      for family in 1...UInt64(8) {
        let child = try fixture.peer(family, 30, pairs[family]?[30])
        let id = CommandID.next
        #expect(try child.post("\(round)", id: id) == .accepted(id, seq: UInt64(round) + 2))
      }
    }
    #expect(await fixture.service.counters.familyLoads > 16)
    try await fixture.stop()
  }

  @Test("F3: a removed device receives no broadcast, and the remaining devices do")
  func remove() async throws {
    let fixture = try await RelayFixture()
    var pairs = try fixture.createFamily(1)
    let (guardian, child) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 30, pairs[30]))
    let removed = try fixture.peer(1, 40, pairs[40])
    try removed.attach()
    let old = removed.channels[.family]!
    pairs[40] = nil
    try fixture.setRoster(1, pairs)
    #expect(try removed.ask(.ping) == .failed(.notEnrolled))
    try guardian.attach()
    #expect(guardian.channels[.family]!.generation == 1)
    #expect(guardian.channels[.family]!.topic != old.topic)
    #expect(guardian.channels[.family]!.key != old.key)
    try removed.resubscribe()
    while try removed.broadcast(within: .milliseconds(300)) != nil {}
    try fixture.setRoster(1, pairs)
    #expect(try removed.broadcast(within: .milliseconds(300)) == nil && removed.unopenedCount == 0)
    #expect(try guardian.event() != nil)
    _ = child
    try await fixture.stop()
  }
}
