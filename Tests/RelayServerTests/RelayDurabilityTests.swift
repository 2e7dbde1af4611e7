import RelayServer
import RelayFixture
import FamilyModel
import SQLiteStore
import Synchronization
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(10))) struct RelayDurabilityTests {
  @Test("A3: what was accepted is there after a restart, and a repeated command gets the same")
  func durable() async throws {
    var rig = try await RelayFixture()
    let pairs = try rig.found(1)
    let id = CommandID.next
    var child = try rig.peer(1, 30, pairs[30])
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    try await rig.stop()
    rig = try await RelayFixture(in: rig.folder)
    child = try rig.peer(1, 30, pairs[30])
    #expect(try child.post("hello", id: id) == .accepted(id, seq: 2))
    #expect(try child.texts() == ["hello"])
    #expect(await rig.service.counters.events == 0)
    try await rig.stop()
  }

  @Test("F3: a wrong key, an unknown device and an unknown family get one answer: problem 200")
  func wrongKey() async throws {
    let rig = try await RelayFixture()
    let pairs = try rig.found(1)
    let foreign = try rig.peer(1, 30, pairs[50])
    #expect(try foreign.ask(.ping) == .failed(.notEnrolled))
    #expect(try rig.peer(1, 31, pairs[30]).ask(.ping) == .failed(.notEnrolled))
    #expect(try rig.peer(2, 30, pairs[30]).ask(.ping) == .failed(.notEnrolled))
    #expect(try rig.peer(1, 0, pairs[10]).ask(.ping) == .failed(.notEnrolled))
    let id = CommandID.next
    #expect(try foreign.post("no", id: id) == .refused(id, .notEnrolled))
    #expect(try rig.peer(1, 30, pairs[30]).ask(.ping) != .failed(.notEnrolled))
    try await rig.stop()
  }

  @Test("X2: nothing is answered before the store has it") func persistBeforeSend() async throws {
    let mode = Mutex<WatchedStore.Mode?>(nil)
    let shared = Shared(mode)
    let rig = try await RelayFixture { store in
      let settings = try? store.settings()
      #expect(settings?.synchronous == 2 && settings?.journal == "wal")
      return WatchedStore(store) { _ in shared.mode.withLock { $0 } }
    }
    let pairs = try rig.found(1)
    let child = try rig.peer(1, 30, pairs[30])
    let guardian = try rig.peer(1, 10, pairs[10])
    try guardian.attach()
    #expect(try guardian.broadcast() != nil)
    shared.mode.withLock { $0 = .slow(milliseconds: 400) }
    try child.send(.command(.next, .post(child: PersonID(3), .text("slow"))))
    #expect(try child.receive(within: 250) == nil)
    #expect(try child.receive() != nil)
    #expect(try guardian.event() != nil)
    // A commit that fails ends the relay, and nothing of the batch was said to anybody.
    shared.mode.withLock { $0 = .failing }
    try child.send(.command(.next, .post(child: PersonID(3), .text("lost"))))
    #expect(await rig.failure() != nil)
    #expect(try child.receive(within: 200) == nil)
    // The one before it may come once more, since it was not acknowledged.
    while let event = try guardian.event(within: 200) { #expect(event.seq == 2 || event.seq == 1) }
    let again = try await RelayFixture(in: rig.folder)
    #expect(try again.peer(1, 30, pairs[30]).texts() == ["slow"])
    try await again.stop()
  }

  final class Shared: Sendable {
    let mode: Mutex<WatchedStore.Mode?>
    init(_ mode: consuming Mutex<WatchedStore.Mode?>) { self.mode = mode }
  }

  @Test("X1: a REQ socket is a client, too") func plainClient() async throws {
    let rig = try await RelayFixture()
    let pairs = try rig.found(1)
    let child = try rig.peer(1, 30, pairs[30], .req)
    let id = CommandID.next
    #expect(try child.post("req", id: id) == .accepted(id, seq: 2))
    #expect(try child.texts() == ["req"])
    try await rig.stop()
  }

  @Test("R1, M5: members hear events, and fetch what they missed, in order, over page borders")
  func deliver() async throws {
    let rig = try await RelayFixture()
    let pairs = try rig.found(1)
    let guardian = try rig.peer(1, 10, pairs[10])
    let child = try rig.peer(1, 30, pairs[30])
    let count = Limits.pageEvents + 50
    // As devices do, with ids in the order of time: an old one is looked for in all of the history.
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
    while try guardian.broadcast(within: 200) != nil {}
    _ = try child.post("live")
    #expect(try guardian.event()?.seq == last + 1)
    // Not acknowledged: it comes again, and not any more once it is.
    #expect(try guardian.event()?.seq == last + 1)
    #expect(await rig.service.counters.republished > 0)
    try guardian.send(.acknowledge([Cursor(.conversation(PersonID(3)), delivered: last + 1)]))
    #expect(try guardian.ask(.ping) != nil)
    while try guardian.event(within: 50) != nil {}
    #expect(try guardian.event(within: 1_200) == nil)
    try await rig.stop()
  }

  @Test("X2: a family that went out of memory with cursors and commands comes back whole")
  func evict() async throws {
    let rig = try await RelayFixture(maxFamilies: 2)
    var pairs: [UInt64: [UInt32: CurveKeyPair]] = [:]
    for family in 1...UInt64(8) { pairs[family] = try rig.found(family) }
    for round in 0..<3 {
      for family in 1...UInt64(8) {
        let child = try rig.peer(family, 30, pairs[family]?[30])
        let id = CommandID.next
        #expect(try child.post("\(round)", id: id) == .accepted(id, seq: UInt64(round) + 2))
      }
    }
    #expect(await rig.service.counters.familyLoads > 16)
    try await rig.stop()
  }

  @Test("F3: after a device was removed it hears nothing more, and those who stay do")
  func remove() async throws {
    let rig = try await RelayFixture()
    var pairs = try rig.found(1)
    let (guardian, child) = (try rig.peer(1, 10, pairs[10]), try rig.peer(1, 30, pairs[30]))
    let removed = try rig.peer(1, 40, pairs[40])
    try removed.attach()
    let old = removed.channels[.family]!
    pairs[40] = nil
    try rig.setRoster(1, pairs)
    #expect(try removed.ask(.ping) == .failed(.notEnrolled))
    try guardian.attach()
    #expect(guardian.channels[.family]!.generation == 1)
    #expect(guardian.channels[.family]!.topic != old.topic)
    #expect(guardian.channels[.family]!.key != old.key)
    try removed.subscribe(guardian.channels[.family]!.topic)
    while try removed.broadcast(within: 300) != nil {}
    try rig.setRoster(1, pairs)
    #expect(try removed.broadcast(within: 300) == nil && removed.unopened == 0)
    #expect(try guardian.event() != nil)
    _ = child
    try await rig.stop()
  }
}
