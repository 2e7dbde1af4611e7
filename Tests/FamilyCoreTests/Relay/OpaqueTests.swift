import FamilyModel
import RelayWire
import Testing

@testable import FamilyCore

/// Commands of a kind that the relay does not know.
@Suite struct OpaqueTests {
  private static let conversation = Audience.conversation(PersonID(3))
  private static func statement(_ count: Int = 3) -> OpaqueBody {
    OpaqueBody(kind: 1_000, bytes: Array(repeating: 7, count: count))
  }

  @Test("O5: a reader of the audience states an unknown kind, and nothing else changes")
  func accepted() throws {
    var fixture = RelayMachineFixture()
    #expect(try fixture.ask(RelayMachineFixture.question(1)).get() == 2)
    let before = try #require(fixture.relay.state(of: RelayMachineFixture.id))
    let id = CommandID(high: 5, low: 5)
    let command = Command.opaque(Self.conversation, Self.statement())
    #expect(fixture.command(30, command, id: id) == .success(3))
    #expect(fixture.command(30, command, id: id) == .success(3), "a repetition has one event")
    #expect(fixture.log.last?.body == .opaque(Self.statement()) && fixture.log.count == 3)
    var after = try #require(fixture.relay.state(of: RelayMachineFixture.id))
    (after.seq, after.heads, after.hashes) = (before.seq, before.heads, before.hashes)
    (after.results, after.lastWritten) = (before.results, before.lastWritten)
    #expect(after.storage.family > before.storage.family)
    after.storage = before.storage
    #expect(after == before)
  }

  @Test("O5: a relay restores a family with unknown kinds from its log and from its snapshot")
  func restored() throws {
    var fixture = RelayMachineFixture()
    _ = fixture.command(30, .opaque(Self.conversation, Self.statement()))
    let newer = OpaqueBody(kind: 300, bytes: [1])
    fixture.log.append(
      Event(
        seq: 3, previous: 2, audience: Self.conversation, command: CommandID(high: 1, low: 99),
        device: DeviceID(30), at: fixture.now, body: .opaque(newer)))
    let events = try fixture.log.map { try Event.decode($0.encode()) }
    #expect(events == fixture.log)
    fixture.relay.evict(RelayMachineFixture.id)
    fixture.relay.load(RelayMachineFixture.id, events: events, cursors: [], now: fixture.now)
    let state = try #require(fixture.relay.state(of: RelayMachineFixture.id))
    #expect(state.seq == 3 && state.head(Self.conversation) == 3)
    #expect(FamilyState(snapshot: try #require(state.snapshot)) == state)
    #expect(fixture.ask(RelayMachineFixture.question(1)) == .success(4))
  }

  @Test("O5: strangers to the audience, the administrator and unknown fields are refused")
  func refused() {
    var fixture = RelayMachineFixture()
    let command = Command.opaque(Self.conversation, Self.statement())
    for device: UInt32 in [0, 40, 50] {
      #expect(fixture.command(device, command) == .failure(.notPermitted))
    }
    let enforced = OpaqueBody(kind: 999, bytes: [])
    #expect(
      fixture.command(30, .opaque(Self.conversation, enforced)) == .failure(.unknownRequest))
    for count in [Limits.opaqueBytes, Limits.opaqueBytes + 1] {
      let result = fixture.command(30, .opaque(Self.conversation, Self.statement(count)))
      #expect(((try? result.get()) != nil) == (count == Limits.opaqueBytes))
    }
  }

  @Test("O5: an unknown kind of a child gets no receipt, as shared keys")
  func receipt() {
    var fixture = RelayMachineFixture()
    _ = fixture.command(30, .opaque(Self.conversation, Self.statement()))
    #expect(fixture.relay.state(of: RelayMachineFixture.id)?.lastOfChild[PersonID(3)] == nil)
  }
}
