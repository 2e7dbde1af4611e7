import FamilyModel
import Foundation
import GRDB
import RelayStore
import Testing

/// A temporary folder that is deleted with the value.
final class Folder {
  let url: URL
  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

func event(_ family: UInt64, _ seq: UInt64, _ audience: Audience = .family) -> StoredEvent {
  StoredEvent(
    family: FamilyID(family), seq: seq, audience: audience, device: DeviceID(1),
    command: ID128(high: family, low: seq), at: Instant(milliseconds: Int64(seq)),
    payload: Array("event \(seq) of \(family)".utf8))
}

func batch(_ events: [StoredEvent]) -> Batch {
  var batch = Batch()
  batch.events = events
  return batch
}

func cursor(
  _ family: UInt64, _ delivered: UInt64, by device: UInt32 = 1, in audience: Audience = .family
) -> StoredCursor {
  StoredCursor(
    family: FamilyID(family), device: DeviceID(device),
    cursor: Cursor(audience, delivered: delivered))
}

func snapshot(_ family: UInt64, _ seq: UInt64) -> StoredSnapshot {
  StoredSnapshot(
    family: FamilyID(family), seq: seq, payload: Array("snapshot \(seq) of \(family)".utf8))
}

func lock(_ family: UInt64, _ byte: UInt8) -> StoredPasscodeLock {
  StoredPasscodeLock(family: FamilyID(family), payload: [byte])
}

/// Changes a closed store by a statement.
func change(_ folder: Folder, _ sql: String, in name: String = "a") throws {
  let queue = try DatabaseQueue(path: folder.path(name))
  try queue.inDatabase { db in
    try db.execute(sql: sql)
    #expect(db.changesCount > 0)
  }
  try queue.close()
}
