import DeviceTurn
import FamilyModel
import Foundation
import RelayStore
import RelayWire
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

  /// Bytes that the store's file has once.
  private static let state = [UInt8](repeating: 0xAB, count: 64)

  private var snapshot: DeviceRecord {
    var heads = SmallMap<Audience, UInt64>()
    (heads[.family], heads[talk]) = (2, 4)
    let coverage = SnapshotCoverage(seq: 4, heads: heads)
    return .snapshot(StoredSnapshot.head(coverage)! + Self.state)
  }

  enum Form: CaseIterable { case absent, usable, unusable, damaged }

  private func damageSnapshot(_ path: String) throws {
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    file[try #require(file.firstRange(of: Data(Self.state))).lowerBound] ^= 1
    try file.write(to: URL(fileURLWithPath: path))
  }

  private func snapshots(_ form: Form) -> Snapshots {
    Snapshots(
      coding: SnapshotCoding(),
      seal: { pieces, sealed in
        sealed += pieces.joined()
        return true
      },
      open: { count, next in
        let state = try [UInt8](count, from: next)
        return form == .usable ? state : nil
      })
  }

  @Test("O11: a start reads the events after a usable snapshot only", arguments: Form.allCases)
  func later(_ form: Form) throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("agent.sqlite").path
    var store = try SQLiteAgentStore(path: path)
    let records =
      [(.family, 1), (.family, 2), (talk, 3), (talk, 4), (.family, 5), (talk, 6), (talk, 7)]
      .map { event($0, $1) }
      + [
        .cursor(Cursor(.family, delivered: 5)), .cursor(Cursor(talk, delivered: 7)),
        .latestTime(Instant(milliseconds: 9)),
      ] + (form == .absent ? [] : [snapshot])
    let other = DeviceAddress(family: FamilyID(1), device: DeviceID(4))
    try store.apply(
      (records.map { Change(.put($0), under: device.recordKeyPrefix) }
        + [Change(.put(event(talk, 8)), under: other.recordKeyPrefix)]))
    #expect(Set(try store.records(of: device)) == Set(records))
    if form == .damaged {
      store.close()
      try damageSnapshot(path)
      store = try SQLiteAgentStore(path: path)
      #expect(throws: StoreError.self) { try store.records(of: device) }
    }
    let (found, opened) = try store.recordsAfterSnapshot(of: device, snapshots(form))
    let snapshot = opened?.take()
    #expect(opened?.take() == nil)
    #expect(snapshot?.coverage.seq == (form == .usable ? 4 : nil))
    let expected: [DeviceRecord] =
      switch form {
      case .absent: records
      case .usable: Array(records.dropFirst(4).dropLast())
      // The device then removes the snapshot.
      case .unusable: Array(records.dropLast()) + [.snapshot([])]
      case .damaged: Array(records.dropLast())
      }
    #expect(Set(found) == Set(expected))
    #expect(found.count == Set(found).count)
    if form == .damaged { #expect(Set(try store.records(of: device)) == Set(expected)) }
    store.close()
  }

  @Test("O11: a start refuses a file whose damaged snapshot cannot be removed")
  func broken() throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("agent.sqlite").path
    let coverage = SnapshotCoverage(seq: 0, heads: SmallMap())
    let state = [UInt8](repeating: 1, count: 2 * Limits.frameBytes)
    let large = StoredSnapshot.head(coverage)! + state
    var store = try SQLiteAgentStore(path: path)
    try store.apply([Change(.put(.snapshot(large)), under: device.recordKeyPrefix)])
    store.close()
    // Each page of the value names the next one. The file ends with them.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let end = try file.seekToEnd()
    try file.seek(toOffset: end - UInt64(Limits.frameBytes))
    try file.write(contentsOf: Data(repeating: 0xAA, count: Limits.frameBytes))
    try file.close()
    store = try SQLiteAgentStore(path: path)
    #expect {
      try store.recordsAfterSnapshot(of: device, snapshots(.usable))
    } throws: { ($0 as? StoreError)?.isDamage ?? false }
    store.close()
  }
}
