import DeviceTurn
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

@testable import FamilyCore

@Suite struct RecordTests {
  private let device = DeviceAddress(family: FamilyID(1), device: DeviceID(3))
  private let talk = Audience.conversation(PersonID(3))

  private func event(_ audience: Audience, _ seq: UInt64) -> DeviceRecord {
    .event(
      Event(
        seq: seq, previous: 0, audience: audience, command: CommandID(high: 1, low: seq),
        device: DeviceID(1), at: Instant(milliseconds: 1), body: .beat))
  }

  private var snapshot: DeviceRecord {
    var heads = SmallMap<Audience, UInt64>()
    (heads[.family], heads[talk]) = (2, 4)
    let coverage = SnapshotCoverage(seq: 4, heads: heads)
    return .snapshot(Packer.pack(StoredSnapshot(coverage: coverage, state: [1])))
  }

  @Test(
    "O11: a start reads the events after the snapshot only",
    arguments: [true, false])
  func later(hasSnapshot: Bool) throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path)
    let records =
      [(.family, 1), (.family, 2), (talk, 3), (talk, 4), (.family, 5), (talk, 6), (talk, 7)]
      .map { event($0, $1) }
      + [
        .cursor(Cursor(.family, delivered: 5)), .cursor(Cursor(talk, delivered: 7)),
        .latestTime(Instant(milliseconds: 9)),
      ] + (hasSnapshot ? [snapshot] : [])
    let other = DeviceAddress(family: FamilyID(1), device: DeviceID(4))
    try store.apply(
      (records.map { Change(.put($0), under: device.recordKeyPrefix) }
        + [Change(.put(event(talk, 8)), under: other.recordKeyPrefix)]))
    let found = try store.recordsAfterSnapshot(of: device)
    #expect(Set(try store.records(of: device)) == Set(records))
    #expect(Set(found) == Set(hasSnapshot ? Array(records.dropFirst(4)) : records))
    #expect(found.count == Set(found).count)
    store.close()
  }
}
