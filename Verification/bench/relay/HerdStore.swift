import FamilyModel
import Foundation
import RelayStore
import RelayWire
import SQLiteStore
import SystemClock
import ZeroMQ

/// The families of a herd, written to a relay's store without the relay.
struct HerdStore {
  private static let familiesPerCommit = 500

  let address: RelayAddress
  let keys: [CurveKeyPair]
  let events: Int

  init(_ address: RelayAddress, keys: [CurveKeyPair], events: Int) {
    (self.address, self.keys, self.events) = (address, keys, events)
  }

  /// Writes families with consecutive numbers.
  func write(families: Int, from lowest: Int = 1, to file: URL) throws {
    let highest = lowest + families - 1
    let store = try SQLiteEventStore(path: file.path)
    defer { store.close() }
    for first in stride(from: lowest, through: highest, by: Self.familiesPerCommit) {
      var batch = Batch()
      for family in first...min(highest, first + Self.familiesPerCommit - 1) {
        batch.events += log(of: UInt64(family))
      }
      try store.commit(batch)
    }
  }

  private func log(of family: UInt64) -> [StoredEvent] {
    var roster = address.roster
    roster.devices[1].publicKey = keys[Int(family) % keys.count].publicKey.bytes
    var log = [event(1, 0, .family, DeviceID(0), .rosterChanged(roster), family)]
    for seq in 2..<max(2, UInt64(events) + 1) {
      // The size of a sealed text.
      let text = Content.sealed(Array(repeating: 7, count: 200))
      log.append(
        event(
          seq, seq == 2 ? 0 : seq - 1, .conversation(RelayAddress.child), RelayAddress.childDevice,
          .posted(child: RelayAddress.child, text), family))
    }
    return log
  }

  private func event(
    _ seq: UInt64, _ previous: UInt64, _ audience: Audience, _ device: DeviceID, _ body: Event.Body,
    _ family: UInt64
  ) -> StoredEvent {
    let event = Event(
      seq: seq, previous: previous, audience: audience, command: CommandID(high: 1, low: seq),
      device: device, at: .now, body: body)
    return StoredEvent(
      family: FamilyID(family), seq: seq, audience: audience, device: device,
      command: event.command, at: event.at, payload: event.encode())
  }
}
