/// A record of the store's log. A family's passcode lock follows the family's newest event.
public enum LogRecord: Hashable, Sendable {
  case event(StoredEvent)
  case passcodeLock(StoredPasscodeLock)
}

/// Consecutive records of the log, in their order of arrival.
///
/// Cursors are no part of the log: devices repeat them when they attach. Snapshots, heads, marks and
/// indexes are made again from the events.
public struct LogPart: Hashable, Sendable {
  /// The event before the records; `nil` at the start of the log.
  public var previous: StoredEvent?
  /// The records.
  public var records: [LogRecord]
  /// The number of events from the start of the log to the end of the records.
  public var position: Int
  /// The number of all events in the log.
  public var newest: Int
  /// A part of the log.
  public init(
    previous: StoredEvent? = nil, records: [LogRecord] = [], position: Int, newest: Int
  ) {
    self.previous = previous
    self.records = records
    self.position = position
    self.newest = newest
  }
}
