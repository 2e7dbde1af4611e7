public import FamilyModel

/// The relay's log. One thread at a time calls it, and each call returns when the work is done.
public protocol EventStore: AnyObject {
  /// Makes the batch durable, all or nothing: it is on disk when this returns.
  ///
  /// - Throws: `conflict` for an event that is not the next of its family; `full`: nothing was kept. `io`: all or
  ///   nothing was; who opens the file again finds out.
  func commit(_ batch: Batch) throws(StoreError)
  /// The family's newest snapshot; none where its sum is wrong, since it is a cache.
  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot?
  /// The family's events after `seq`, and its cursors.
  ///
  /// - Throws: `damaged` where a sum is wrong or an event is missing.
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily
  /// A page of an audience's events after `seq`; at least one event, if there is one.
  func events(of family: FamilyID, _ audience: Audience, after seq: UInt64, limit: Int, bytes: Int)
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  /// The place of the event that the command led to.
  func seq(of command: CommandID, in family: FamilyID) throws(StoreError) -> UInt64?
  /// Lets the file go.
  func close()
}

extension EventStore {
  /// Everything of a family.
  public func load(_ family: FamilyID) throws(StoreError) -> StoredFamily {
    try load(family, after: 0)
  }
}

/// One change of a device's local state.
public struct Change: Hashable, Sendable {
  /// The record's key.
  public var key: [UInt8]
  /// The new value; `nil` removes the record.
  public var value: [UInt8]?
  /// A change of the record `key`.
  public init(key: [UInt8], value: [UInt8]?) {
    self.key = key
    self.value = value
  }
}

/// A device's local state: records in the order of their keys. It belongs to one thread.
public protocol AgentStore: AnyObject {
  /// The records whose keys begin with `prefix`, ascending.
  func load(prefix: [UInt8]) throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
  /// Makes the changes, all or none. A killed process loses none that were made.
  func apply(_ changes: [Change]) throws(StoreError)
  /// Lets the file go.
  func close()
}
