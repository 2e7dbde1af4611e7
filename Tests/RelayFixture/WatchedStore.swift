package import FamilyModel
import Glibc
package import RelayStore
package import SQLiteStore

/// A store that reports its commits and can delay or fail them, and that can fail reads.
package final class WatchedStore: EventStore {
  package enum Mode: Sendable { case slow(milliseconds: UInt32), failing }
  package enum Read: Sendable { case load, page, result }
  private let store: SQLiteEventStore
  private let mode: @Sendable (Batch) -> Mode?
  private let failure: @Sendable (Read, FamilyID) -> StoreError?

  package init(
    _ store: SQLiteEventStore, _ mode: @escaping @Sendable (Batch) -> Mode? = { _ in nil },
    failure: @escaping @Sendable (Read, FamilyID) -> StoreError?
  ) {
    self.store = store
    self.mode = mode
    self.failure = failure
  }

  package convenience init(
    _ store: SQLiteEventStore, _ mode: @escaping @Sendable (Batch) -> Mode?
  ) {
    self.init(store, mode) { _, _ in nil }
  }

  package func commit(_ batch: Batch) throws(StoreError) {
    switch mode(batch) {
    case .slow(let milliseconds): usleep(milliseconds * 1_000)
    case .failing: throw .full
    case nil: break
    }
    try store.commit(batch)
  }
  package func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try store.snapshot(of: family)
  }
  package func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    if let error = failure(.load, family) { throw error }
    return try store.load(family, after: seq)
  }
  package func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    if let error = failure(.page, family) { throw error }
    return try store.events(
      of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }
  package func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    if let error = failure(.result, family) { throw error }
    return try store.event(of: command, by: device, in: family)
  }
  package func openReader() throws(StoreError) -> (any EventReader)? {
    guard let reader = try store.openReader() else { return nil }
    return WatchedReader(reader, failure)
  }
  package func positions(of families: [FamilyID]) -> ReadPositions {
    store.positions(of: families)
  }
  package func close() { store.close() }
}

/// A reader beside a watched store. Its reads can fail, or wait until a test lets them continue.
private final class WatchedReader: EventReader {
  private let reader: any EventReader
  private let failure: @Sendable (WatchedStore.Read, FamilyID) -> StoreError?

  init(
    _ reader: any EventReader,
    _ failure: @escaping @Sendable (WatchedStore.Read, FamilyID) -> StoreError?
  ) {
    self.reader = reader
    self.failure = failure
  }

  func begin(_ positions: ReadPositions) { reader.begin(positions) }
  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try reader.snapshot(of: family)
  }
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    if let error = failure(.load, family) { throw error }
    return try reader.load(family, after: seq)
  }
  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    if let error = failure(.page, family) { throw error }
    return try reader.events(
      of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }
  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  {
    if let error = failure(.result, family) { throw error }
    return try reader.event(of: command, by: device, in: family)
  }
  func close() { reader.close() }
}
