import BackupArchive
import Credentials
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

@testable import relayctl

/// Restorations of a series with damaged events.
@Suite struct RestorationTests {
  /// An event whose time is this number of seconds.
  private static func event(_ family: UInt64, _ seq: UInt64, at seconds: Int64) -> StoredEvent {
    StoredEvent(
      family: FamilyID(family), seq: seq, audience: .family, device: DeviceID(1),
      command: ID128(high: family, low: seq), at: Instant(milliseconds: seconds * 1_000),
      payload: [1])
  }

  /// The second event of family 2 with this family in its record, and without its content.
  private static func damaged(family: UInt64 = 2) -> LogRecord {
    var record = EventRecord(event(2, 2, at: 4), prior: 2)
    (record.family, record.payload) = (FamilyID(family), [])
    return .damaged(record)
  }

  /// Restores a series: a backup with an event of each family, and a segment with four further events.
  private func restore(_ damaged: LogRecord, until moment: RestoredMoment) throws
    -> (damage: RestoredDamage?, events: Int, text: String)
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (relay, series) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
    let keys = try RelayKeys.create(in: relay)
    let file = relay.appendingPathComponent(BackupContent.store)
    let store = try SQLiteEventStore(path: file.path)
    var batch = Batch()
    batch.events = [Self.event(1, 1, at: 1), Self.event(2, 1, at: 1)]
    try store.commit(batch)
    store.close()
    let key = BackupKey()
    let keyFile = folder.appendingPathComponent("key.json")
    try key.write(to: keyFile)
    try FileManager.default.createDirectory(at: series, withIntermediateDirectories: true)
    let recipient = try ArchiveWriter.recipient(key.publicText)
    try ArchiveWriter.write(
      [(BackupContent.keys, RelayKeys.file(in: relay)), (BackupContent.store, file)],
      preamble: ArchivePreamble(number: 0, previous: nil, events: 2, checksum: 0, completed: 2),
      program: "1", to: series.appendingPathComponent(ArchiveSeries.name(0)), recipient: recipient)
    let records: [LogRecord] = [
      .event(Self.event(1, 2, at: 3)), damaged, .event(Self.event(1, 3, at: 5)),
      .event(Self.event(2, 3, at: 6)),
    ]
    let preamble = try #require(
      try ArchiveSeries(series).next(events: 6, checksum: 0, completed: 7))
    try ArchiveWriter.write(
      segment: Data(records.reduce(into: [UInt8]()) { $1.append(to: &$0) }), preamble: preamble,
      program: "1", to: series.appendingPathComponent(ArchiveSeries.name(1)),
      recipient: recipient, secret: SegmentSecret(keys.channelSecret))
    let target = folder.appendingPathComponent("c")
    let restored = try RestoredRelay(series, key: keyFile.path, to: target, until: moment)
    let copy = try SQLiteEventStore(path: target.appendingPathComponent(BackupContent.store).path)
    defer { copy.close() }
    let note = target.appendingPathComponent(BackupContent.store + SQLiteEventStore.damageNote)
    let text = try? String(contentsOf: note, encoding: .utf8)
    #expect(text == restored.damage.map { "\($0.text)\n" })
    return (restored.damage, copy.events, restored.text)
  }

  @Test(
    "O2, O6: each moment of a series is restored beside a damaged event, which is named from its place on",
    arguments: [
      (.end, 6, 2...3), (.events(5), 5, 2...2), (.events(4), 4, 2...2), (.events(3), 3, nil),
      (.time(Instant(milliseconds: 5_000)), 5, 2...2),
      // The damaged event has no time.
      (.time(Instant(milliseconds: 3_000)), 4, 2...2),
    ] as [(RestoredMoment, Int, ClosedRange<UInt64>?)])
  func moments(_ moment: RestoredMoment, _ events: Int, _ lost: ClosedRange<UInt64>?) throws {
    let restored = try restore(Self.damaged(), until: moment)
    #expect(restored.events == events)
    let end = "The last 1 records are damaged and have no known time. `--until 3` leaves them out."
    var isEnd = false
    if case .time(Instant(milliseconds: 3_000)) = moment { isEnd = true }
    #expect(restored.text.hasSuffix(end) == isEnd && restored.text.contains("known time") == isEnd)
    guard let lost else {
      #expect(restored.damage == nil)
      return
    }
    guard case .families(let damage)? = restored.damage else {
      Issue.record("no family is named")
      return
    }
    #expect(damage.events == [FamilyID(2): lost])
    let text = "damaged: 2 (events \(lost.lowerBound)-\(lost.upperBound))."
    #expect(restored.damage?.text.contains(text) == true)
  }

  @Test("O2, O6: damage without a proven owner loses no other event, and the restoration says so")
  func unproven() throws {
    for record in [Self.damaged(family: 9), .damaged(.unreadable)] {
      let restored = try restore(record, until: .end)
      #expect(restored.events == 6)
      guard case .unproven? = restored.damage else {
        Issue.record("the store counts as usable")
        continue
      }
    }
    #expect(try restore(Self.damaged(family: 9), until: .events(3)).damage == nil)
  }
}
