/// A record of the store's log. A family's passcode lock follows the family's newest event.
///
/// Damage of one family must not hide the events of others, so a damaged record is part of the log.
public enum LogRecord: Hashable, Sendable {
  case event(StoredEvent)
  case passcodeLock(StoredPasscodeLock)
  /// A damaged event, with the fields that the store has.
  case damaged(EventRecord)
  /// A damaged passcode lock, with the checksum that the store has.
  case damagedLock(StoredPasscodeLock, sum: Int64)

  /// The checksum that the store has for the event; `nil` for a passcode lock.
  public var checksum: UInt32? {
    switch self {
    case .event(let event): event.checksum
    case .damaged(let record): UInt32(truncatingIfNeeded: record.sum)
    case .passcodeLock, .damagedLock: nil
    }
  }
}

/// Consecutive records of the log, in their order of arrival.
///
/// Cursors are no part of the log: devices repeat them when they attach. Snapshots, heads, marks and
/// indexes are made again from the events.
public struct LogPart: Hashable, Sendable {
  /// The event before the records; `nil` at the start of the log.
  public var previous: LogRecord?
  /// The records.
  public var records: [LogRecord]
  /// The number of events from the start of the log to the end of the records.
  public var position: Int
  /// The number of all events in the log.
  public var newest: Int
  /// A part of the log.
  public init(
    previous: LogRecord? = nil, records: [LogRecord] = [], position: Int, newest: Int
  ) {
    self.previous = previous
    self.records = records
    self.position = position
    self.newest = newest
  }

  /// Whether the event before the records can be the one with this checksum; 0 names the start of the log.
  ///
  /// A damaged event can be it by its stored checksum, or by that of its fields. One of which nothing can be
  /// read may have had any checksum.
  public func continues(_ checksum: UInt32) -> Bool {
    if previous?.checksum ?? 0 == checksum { return true }
    guard case .damaged(let record)? = previous else { return false }
    return record == .unreadable || record.unverified?.checksum == checksum
  }
}
