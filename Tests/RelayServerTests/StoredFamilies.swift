import FamilyModel
import Foundation
import RelayFixture
import RelayStore
import RelayWire
import SQLiteStore
import ZeroMQ

/// Families that a test writes to the store of a stopped relay.
///
/// Each has a copy of the first family's roster, and then posts of the child's device. No snapshot
/// shortens their histories.
struct StoredFamilies {
  private static let eventsPerCommit = 4_096

  let families: ClosedRange<UInt64>
  /// Posts of each family.
  var posts = 0
  var text = "text"
  /// The keys of the organizer's device by family; without one, those of the first family.
  var organizers: [UInt64: CurveKeyPair] = [:]

  func write(to folder: URL) throws {
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    let roster = try store.load(FamilyID(1)).events[0]
    var batch = Batch()
    for family in families {
      batch.events.append(try copy(of: roster, to: family))
      for seq in 2..<UInt64(posts) + 2 {
        batch.events.append(post(seq, in: family, at: roster.at))
        guard batch.events.count >= Self.eventsPerCommit else { continue }
        try store.commit(batch)
        batch = Batch()
      }
    }
    try store.commit(batch)
  }

  private func copy(of roster: StoredEvent, to family: UInt64) throws -> StoredEvent {
    var copy = roster
    copy.family = FamilyID(family)
    guard let keys = organizers[family] else { return copy }
    var event = try Event.decode(roster.payload)
    guard case .rosterChanged(var members) = event.body,
      let index = members.devices.firstIndex(where: { $0.id == DeviceID(10) })
    else { return copy }
    members.devices[index].publicKey = keys.publicKey.bytes
    event.body = .rosterChanged(members)
    copy.payload = event.encode()
    return copy
  }

  private func post(_ seq: UInt64, in family: UInt64, at: Instant) -> StoredEvent {
    let conversation = Audience.conversation(PersonID(3))
    let event = Event(
      seq: seq, previous: seq == 2 ? 0 : seq - 1, audience: conversation,
      command: CommandID(high: 1, low: seq), device: DeviceID(30), at: at,
      body: .posted(child: PersonID(3), .text(text)))
    return StoredEvent(
      family: FamilyID(family), seq: seq, audience: conversation, device: DeviceID(30),
      command: event.command, at: at, payload: event.encode())
  }
}

extension RelayFixture {
  /// A relay with its first family, and with stored families without posts. The organizer's device of
  /// each of those has a key of its own.
  ///
  /// - Returns: The relay, the keys of the first family's devices, and the organizers' keys by family.
  static func withFamilies(_ families: ClosedRange<UInt64>) async throws
    -> (RelayFixture, [UInt32: CurveKeyPair], organizers: [UInt64: CurveKeyPair])
  {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    try await fixture.stop()
    var organizers: [UInt64: CurveKeyPair] = [:]
    for family in families { organizers[family] = try .generate() }
    try StoredFamilies(families: families, organizers: organizers).write(to: fixture.folder)
    return (try await RelayFixture(in: fixture.folder), pairs, organizers)
  }
}
