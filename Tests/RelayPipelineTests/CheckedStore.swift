import FamilyModel
import RelayPipeline
import RelayStore

/// A store in memory that yields to other threads, and checks what it is asked to write.
///
/// Unchecked, because the scheduler runs one thread at a time.
final class CheckedStore: EventStore, @unchecked Sendable {
  private let base = MemoryEventStore()
  private var heads: [FamilyID: UInt64] = [:]
  private var commits = 0
  /// The number of the commit that fails, from 1; `nil` if none does.
  private let failing: Int?
  private let report: (String) -> Void

  init(failing: Int?, _ report: @escaping (String) -> Void) {
    self.failing = failing
    self.report = report
  }

  /// Whether the event is durable.
  func holds(_ family: FamilyID, _ seq: UInt64) -> Bool { seq <= heads[family] ?? 0 }

  /// Stores events before the run.
  func found(_ events: [StoredEvent]) throws(StoreError) {
    var batch = Batch()
    batch.events = events
    try base.commit(batch)
    record(events)
  }

  private func record(_ events: [StoredEvent]) {
    for event in events { heads[event.family] = event.seq }
  }

  func commit(_ batch: Batch) throws(StoreError) {
    ThreadScheduling.current?.mayYield()
    commits += 1
    if commits == failing { throw .io("deliberate") }
    do throws(StoreError) { try base.commit(batch) } catch {
      report("a commit does not continue the log: \(error)")
      throw error
    }
    record(batch.events)
    for item in batch.cursors where !holds(item.family, item.cursor.delivered) {
      report("a cursor counts an event that is not durable")
    }
    ThreadScheduling.current?.mayYield()
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try base.snapshot(of: family)
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try base.load(family, after: seq)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try base.events(of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  { try base.event(of: command, by: device, in: family) }

  func openReader() -> (any EventReader)? { CheckedReader(self) }

  func close() {}
}

/// Reads a checked store beside its commits.
private final class CheckedReader: EventReader {
  private let store: CheckedStore

  init(_ store: CheckedStore) { self.store = store }

  func begin(_ positions: ReadPositions) { ThreadScheduling.current?.mayYield() }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    ThreadScheduling.current?.mayYield()
    return try store.snapshot(of: family)
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    defer { ThreadScheduling.current?.mayYield() }
    return try store.load(family, after: seq)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    defer { ThreadScheduling.current?.mayYield() }
    return try store.events(
      of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    defer { ThreadScheduling.current?.mayYield() }
    return try store.event(of: command, by: device, in: family)
  }

  func close() {}
}
