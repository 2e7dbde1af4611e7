public import FamilyModel

/// A log in memory, for tests. The log ends with the process.
public final class MemoryEventStore: EventStore {
  /// The name of a command.
  private struct CommandKey: Hashable {
    var family: FamilyID
    var device: DeviceID
    var command: CommandID
  }

  private var families: [FamilyID: StoredFamily] = [:]
  private var commands: [CommandKey: UInt64] = [:]
  private var snapshots: [FamilyID: StoredSnapshot] = [:]

  /// Creates an empty log.
  public init() {}

  public func commit(_ batch: Batch) throws(StoreError) {
    var new = families
    for event in batch.events {
      var family = new[event.family] ?? StoredFamily()
      guard event.seq == (family.events.last?.seq ?? 0) + 1 else { throw .conflict }
      family.events.append(event)
      new[event.family] = family
    }
    for cursor in batch.cursors {
      var family = new[cursor.family] ?? StoredFamily()
      family.cursors.removeAll {
        $0.device == cursor.device && $0.cursor.audience == cursor.cursor.audience
      }
      family.cursors.append(cursor)
      family.cursors.sort { ($0.device, $0.cursor.audience) < ($1.device, $1.cursor.audience) }
      new[cursor.family] = family
    }
    for lock in batch.passcodeLocks {
      new[lock.family, default: StoredFamily()].passcodeLock = lock
    }
    families = new
    for event in batch.events {
      let key = CommandKey(family: event.family, device: event.device, command: event.command)
      commands[key] = commands[key] ?? event.seq
    }
    for snapshot in batch.snapshots { snapshots[snapshot.family] = snapshot }
  }

  public func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    snapshots[family]
  }

  public func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    var stored = families[family] ?? StoredFamily()
    let known = max(seq, stored.cursors.map(\.cursor.delivered).max() ?? 0)
    guard known <= stored.events.last?.seq ?? 0 else {
      throw .damaged("family \(family.rawValue) lacks event \(known)")
    }
    stored.events.removeAll { $0.seq <= seq }
    return stored
  }

  public func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    let all = (families[family]?.events ?? []).filter {
      $0.audience == audience && $0.seq > seq && $0.seq <= last
    }
    return Page.cut(all, limit: limit, bytes: bytes)
  }

  public func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    commands[CommandKey(family: family, device: device, command: command)].flatMap { seq in
      families[family]?.events.first { $0.seq == seq }
    }
  }

  public func close() {}
}

/// Divides events into pages.
public enum Page {
  /// The first events: at most `limit` of them, with at most `bytes` of payload, but at least one.
  ///
  /// - Returns: The page, and whether events remain.
  public static func cut(_ events: [StoredEvent], limit: Int, bytes: Int)
    -> (events: [StoredEvent], more: Bool)
  {
    var page: [StoredEvent] = []
    var size = 0
    for event in events {
      size += event.payload.count
      if !page.isEmpty, page.count >= limit || size > bytes { return (page, true) }
      page.append(event)
    }
    return (page, false)
  }
}

/// A device's local state in memory, for tests.
public final class MemoryAgentStore: AgentStore {
  private var records: [[UInt8]: [UInt8]] = [:]

  /// Creates an empty state.
  public init() {}

  public func load(prefix: [UInt8]) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    records.filter { $0.key.starts(with: prefix) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { (key: $0.key, value: $0.value) }
  }

  public func apply(_ changes: [Change]) throws(StoreError) {
    for change in changes { records[change.key] = change.value }
  }

  public func close() {}
}
