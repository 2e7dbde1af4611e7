public import Foundation

/// A position in the relay's log, between two events.
public struct LogPosition: Codable, Sendable, Hashable {
  /// The number of events before the position, since the start of the log.
  public var events: Int
  /// The checksum of the last of these events; 0 without one. Another log has another checksum.
  public var checksum: UInt32

  /// The position after `events` events, the last of which has this checksum.
  public init(events: Int, checksum: UInt32) {
    self.events = events
    self.checksum = checksum
  }
}

/// The next part of the relay's log.
public struct LogReply: Codable, Sendable, Hashable {
  /// The position after the records.
  public var position: LogPosition
  /// The number of all events in the log.
  public var newest: Int
  /// The records, in the store's form.
  public var records: Data

  /// A part that ends at `position`.
  public init(position: LogPosition, newest: Int, records: Data) {
    self.position = position
    self.newest = newest
    self.records = records
  }

  /// Whether the part ends at the end of the log.
  public var isNewest: Bool { position.events == newest }
}
