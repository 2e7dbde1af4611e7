import FamilyModel
import Foundation
import RelayStore

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
