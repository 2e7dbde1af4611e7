package import FamilyModel
import Glibc
package import RelayStore
package import SQLiteStore

/// A store that reports its commits and can delay or fail them.
package final class WatchedStore: EventStore {
  package enum Mode: Sendable { case slow(milliseconds: UInt32), failing }
  private let store: SQLiteEventStore
  private let mode: @Sendable (Batch) -> Mode?

  package init(_ store: SQLiteEventStore, _ mode: @escaping @Sendable (Batch) -> Mode?) {
    self.store = store
    self.mode = mode
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
    try store.load(family, after: seq)
  }
  package func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, limit: Int, bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    try store.events(of: family, audience, after: seq, limit: limit, bytes: bytes)
  }
  package func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    try store.event(of: command, by: device, in: family)
  }
  package func close() { store.close() }
}
