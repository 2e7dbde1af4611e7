import Foundation
import RelayOperation
import RelayPipeline
import RelayStore

/// The parts of the log that the operator's shipper requests. Confined to the operator's thread.
struct LogShipping {
  /// Events of a part. A commit waits for the read of one part at most.
  private static let eventsPerPart = 256
  /// Bytes after which a part ends.
  private static let bytesPerPart = 1 << 19

  /// When the shipper last had every event in durable segments, in seconds since 1970.
  private(set) var completed: Double?
  private let copier: StoreCopier

  init(_ copier: StoreCopier) { self.copier = copier }

  /// The events after a position.
  ///
  /// - Parameter isDurable: Whether the shipper's segments have all events up to the position.
  mutating func reply(after position: LogPosition, isDurable: Bool) -> OperatorReply {
    let part: LogPart
    do {
      part = try copier.log(
        after: position.events, limit: Self.eventsPerPart, bytes: Self.bytesPerPart)
    } catch {
      return .refused("The relay cannot read its log: \(error)")
    }
    guard part.newest >= position.events, part.continues(position.checksum) else {
      return .refused(
        "The relay's log does not continue the segments, as after a restoration. Begin a new folder."
      )
    }
    if isDurable, part.newest == position.events { completed = Date().timeIntervalSince1970 }
    var (bytes, last) = ([UInt8](), position.checksum)
    for record in part.records {
      record.append(to: &bytes)
      last = record.checksum ?? last
    }
    return .log(
      LogReply(
        position: LogPosition(events: part.position, checksum: last), newest: part.newest,
        records: Data(bytes)))
  }
}
