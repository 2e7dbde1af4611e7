import FamilyModel
import Foundation
import RelayFixture
import RelayServer
import RelayStore
import RelayWire
import SQLiteStore
import Testing

/// A relay of this version, with devices and a store of a later one.
@Suite(.serialized, .timeLimit(.minutes(10))) struct NewerVersionTests {
  private static let audience = Audience.conversation(PersonID(3))
  private static let statement = OpaqueBody(kind: 1_000, bytes: [10, 3, 1, 2, 3])

  /// The bodies of the conversation, fetched from the relay.
  private func bodies(_ peer: Peer) throws -> [Event.Body] {
    guard case .page(_, let events, _) = try peer.ask(.fetch(Self.audience, after: 0)) else {
      return []
    }
    return events.map(\.body)
  }

  private func text(_ text: String) -> Event.Body { .posted(child: PersonID(3), .text(text)) }

  @Test("O5: a statement of an unknown kind passes through the relay, its store and its restart")
  func statement() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    var child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    try guardian.attach()
    let id = CommandID.next
    let command = Request.command(id, .opaque(Self.audience, Self.statement))
    _ = try child.post("before")
    #expect(try child.ask(command) == .accepted(id, seq: 3))
    _ = try child.post("after")
    #expect(try child.ask(command) == .accepted(id, seq: 3))
    let all = [text("before"), .opaque(Self.statement), text("after")]
    #expect(try bodies(guardian) == all)
    try await fixture.stop()

    fixture = try await RelayFixture(in: fixture.folder)
    child = try fixture.peer(1, 30, pairs[30])
    #expect(try child.ask(command) == .accepted(id, seq: 3))
    #expect(try bodies(child) == all)
    let next = CommandID.next
    #expect(try child.post("next", id: next) == .accepted(next, seq: 5))
    try await fixture.stop()
  }

  @Test("O5: a relay that was taken back serves a family with events of a newer relay")
  func rolledBack() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    _ = try fixture.peer(1, 30, pairs[30]).post("before")
    try await fixture.stop()
    let newer = OpaqueBody(kind: 300, bytes: [8, 1])
    let event = Event(
      seq: 3, previous: 2, audience: Self.audience, command: .next, device: DeviceID(30),
      at: Instant(milliseconds: 1_700_000_000_000), body: .opaque(newer))
    let store = try SQLiteEventStore(
      path: fixture.folder.appendingPathComponent("relay.sqlite").path)
    var batch = Batch()
    batch.events = [
      StoredEvent(
        family: FamilyID(1), seq: 3, audience: event.audience, device: event.device,
        command: event.command, at: event.at, payload: event.encode())
    ]
    try store.commit(batch)
    store.close()

    fixture = try await RelayFixture(in: fixture.folder)
    let child = try fixture.peer(1, 30, pairs[30])
    let id = CommandID.next
    #expect(try child.post("after", id: id) == .accepted(id, seq: 4))
    #expect(try bodies(child) == [text("before"), .opaque(newer), text("after")])
    #expect(await fixture.service.counters.damagedFamilies == 0)
    try await fixture.stop()
  }

  @Test("O5: the refusal of an unreadable request reaches the device and names its command")
  func refusal() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let id = CommandID.next
    let post = Request.command(id, .post(child: PersonID(3), .text("hello")))
    var bytes = Envelope(device: child.address, requestID: 7, request: post).encode()
    bytes[1] = 2
    try child.sendRaw([[], bytes])
    let refusal = try #require(try child.receive())
    #expect(refusal.device == child.address && refusal.requestID == 7)
    #expect(refusal.reply == .refused(id, .unsupportedVersion))

    // A request of a later kind: field 200.
    var later = Envelope(device: child.address, requestID: 8, request: .ping).encode()
    later.replaceSubrange((later.count - 2)..., with: [0xC2, 0x0C, 0])
    try child.sendRaw([[], later])
    let other = try #require(try child.receive())
    #expect(other.device == child.address && other.requestID == 8)
    #expect(other.reply == .failed(.unknownRequest))
    try await fixture.stop()
  }
}
