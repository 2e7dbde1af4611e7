import FamilyModel
import Foundation
import RelayFixture
import RelayServer
import RelayStore
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct ConfinementTests {
  @Test("O2: a damaged event refuses its own family with problem 503, and no other")
  func damagedEvent() async throws {
    var fixture = try await RelayFixture()
    let (first, second) = (try fixture.createFamily(1), try fixture.createFamily(2))
    let needle = "a text of the second family"
    _ = try fixture.peer(2, 30, second[30]).post(needle)
    try await fixture.stop()
    let file = fixture.folder.appendingPathComponent("relay.sqlite")
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.range(of: Data(needle.utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: file)

    fixture = try await RelayFixture(in: fixture.folder)
    let child = try fixture.peer(1, 30, first[30])
    let hit = try fixture.peer(2, 30, second[30])
    for number in 1...20 {
      #expect(try hit.ask(.attach([])) == .failed(.storeDamaged))
      #expect(try hit.post("again") == .failed(.storeDamaged))
      let id = CommandID.next
      #expect(try child.post("\(number)", id: id) == .accepted(id, seq: UInt64(number) + 1))
    }
    #expect(try child.texts().count == 20)
    #expect(await fixture.service.counters.damagedFamilies == 1)
    try await fixture.stop()
  }

  @Test("O2: damage of a page or of an old result fails the request that needs it only")
  func damagedPage() async throws {
    let damaged = Shared()
    let fixture = try await RelayFixture { store in
      WatchedStore(store, failure: { read, family in damaged.failure(read, family) })
    }
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let old = CommandID.next
    #expect(try child.post("first", id: old) == .accepted(old, seq: 2))
    // The memory keeps the newest results only.
    for _ in 1...200 { _ = try child.post("later") }
    damaged.reads.withLock { $0 = [.page, .result] }
    #expect(
      try child.ask(.fetch(.conversation(PersonID(3)), after: 0)) == .failed(.storeDamaged))
    #expect(try child.post("first", id: old) == .failed(.storeDamaged))
    let id = CommandID.next
    #expect(try child.post("new", id: id) == .accepted(id, seq: 203))
    damaged.reads.withLock { $0 = [] }
    #expect(try child.post("first", id: old) == .accepted(old, seq: 2))
    #expect(try child.texts().count == 202)
    try await fixture.stop()
  }

  @Test("O2: a family whose records can be read again is served again")
  func transient() async throws {
    let damaged = Shared()
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    try await fixture.stop()
    damaged.reads.withLock { $0 = [.load] }
    fixture = try await RelayFixture(in: fixture.folder) { store in
      WatchedStore(store, failure: { read, family in damaged.failure(read, family) })
    }
    let child = try fixture.peer(1, 30, pairs[30])
    let start = ContinuousClock.now
    #expect(try child.ask(.ping) == .failed(.storeDamaged))
    damaged.reads.withLock { $0 = [] }
    var replies: [Reply?] = []
    repeat {
      try await Task.sleep(for: .milliseconds(50))
      replies.append(try child.ask(.attach([])))
    } while replies.last == .failed(.storeDamaged)
    let delay = ContinuousClock.now - start
    #expect(delay >= .milliseconds(900), "the family is read again only after a delay")
    let id = CommandID.next
    #expect(try child.post("served", id: id) == .accepted(id, seq: 2))
    try await fixture.stop()
  }

  private final class Shared: Sendable {
    let reads = Mutex<Set<WatchedStore.Read>>([])
    func failure(_ read: WatchedStore.Read, _ family: FamilyID) -> StoreError? {
      reads.withLock { $0.contains(read) } ? .damaged("a record of the test") : nil
    }
  }
}
