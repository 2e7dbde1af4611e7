public import FamilyModel

/// The relay's durable log: events, cursors and snapshots of all families.
///
/// This protocol is the contract of a storage engine. The conformance suite states it as rules
/// (Tests/StoreTests/Conformance): a new engine is one case of its `Engine`.
///
/// - **Calls** come from any thread, one at a time. Each call blocks until its work is done.
/// - **Ordering**: a family's events have the sequence numbers 1, 2, 3, … without gaps. Families
///   are independent.
/// - **Unknown families**: a family without records has no events, cursors, snapshot, passcode lock
///   or commands. No read of such a family from its start is an error.
/// - **Durability**: everything that a returned ``commit(_:)`` contained survives a kill and a
///   power cut.
/// - **Atomicity**: a batch is committed as a whole or not at all, also across a crash.
/// - **Visibility**: every read sees all commits that returned before the read.
/// - **Integrity**: reads verify each record's `checksum` and never return damaged bytes. Only a
///   snapshot may be dropped silently, because the log can rebuild its state.
/// - **Opacity**: payloads are opaque. An engine stores and returns all fields unchanged. Payloads
///   may be empty, and numbers have any value of their types.
/// - **Abilities**: an engine may have no reader, and may copy, ship, erase and verify nothing. The
///   extensions below have the answers of such an engine.
///
/// The relay stops after any failed commit, because it no longer knows which events are durable.
public protocol EventStore: EventReading, StoreMaintenance {
  /// Makes the batch durable. Returns after the bytes are on disk.
  ///
  /// Cursors, snapshots and passcode locks replace earlier ones with the same key. Of several with
  /// one key in a batch, the last one remains. A cursor may move back, because an attachment states
  /// it. An empty batch changes nothing.
  ///
  /// - Throws: `conflict` if an event's `seq` is not its family's newest plus one, where earlier
  ///   events of the batch count, or `full` if the disk is full. Nothing of the batch is stored then,
  ///   and later commits may succeed. After `io` the batch is stored as a whole or not at all, and only
  ///   reopening the store tells which.
  func commit(_ batch: Batch) throws(StoreError)
  /// The family's newest snapshot.
  ///
  /// - Returns: `nil` if no snapshot was stored, or its checksum does not match.
  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot?
  /// All events of the family after `seq`, ascending, all cursors, ascending by device and
  /// audience, and the passcode lock.
  ///
  /// - Throws: `damaged` if a checksum does not match, an event is missing, or the log ends before
  ///   `seq` or a cursor. The log of a family without events ends at 0.
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily
  /// A page of an audience's events after `seq`, ascending.
  ///
  /// The time must not grow with the events after `last`: most audiences are quiet.
  ///
  /// - Parameters:
  ///   - last: The audience's newest event of interest. The log may end before it.
  ///   - limit: The largest number of events, from 1.
  ///   - bytes: The largest sum of payload bytes. The first event is returned even if its payload
  ///     is larger.
  /// - Returns: The events, and whether the audience has more events after them, up to `last`. The
  ///   page is empty if the log ends before `seq`.
  /// - Throws: `damaged` if a checksum does not match or an event is missing.
  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  /// The event that a device's command led to.
  ///
  /// The relay asks only for commands older than those in its memory. The time must not grow with
  /// the length of the family's log, because each device can cause the search.
  ///
  /// - Returns: `nil` if no event of the family has this device and this command's id.
  /// - Throws: `damaged` if the event's checksum does not match.
  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
  /// Opens a reader that works beside this store, on another thread.
  ///
  /// - Returns: `nil` if the engine has none. Reads then wait for commits.
  func openReader() throws(StoreError) -> (any EventReader)?
  /// Where a reader finds the newest durable events of these families.
  func positions(of families: [FamilyID]) -> ReadPositions
  /// Releases the file and its lock. Precondition: no call follows, and readers are closed.
  func close()
}

/// The result of a verification of some events.
public struct Verification: Hashable, Sendable {
  /// Where the next call continues; `nil` at the end.
  public var position: Int64?
  /// Verified events.
  public var events: Int
  /// The damage that was found.
  public var damage: [StoreError]
  /// A result.
  public init(position: Int64?, events: Int = 0, damage: [StoreError] = []) {
    self.position = position
    self.events = events
    self.damage = damage
  }
}

/// How much of a copy is made, in pages of the engine.
public struct CopyProgress: Hashable, Sendable {
  /// The pages that are copied.
  public var copied: Int
  /// All pages.
  public var total: Int
  /// Whether the copy is complete.
  public var isComplete: Bool
  /// The progress of a copy.
  public init(copied: Int, total: Int, isComplete: Bool) {
    self.copied = copied
    self.total = total
    self.isComplete = isComplete
  }
}

extension EventStore {
  public func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification {
    Verification(position: nil)
  }

  public func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress {
    throw .io("this engine makes no copies")
  }

  public func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart {
    throw .io("this engine ships no log")
  }

  public func replace(_ events: [Int: StoredEvent]) throws(StoreError) {
    throw .io("this engine erases nothing")
  }

  /// All events and cursors of a family.
  public func load(_ family: FamilyID) throws(StoreError) -> StoredFamily {
    try load(family, after: 0)
  }
}

/// A change of one record of a device's local state.
public struct Change: Hashable, Sendable {
  /// The record's key.
  public var key: [UInt8]
  /// The new value; `nil` removes the record.
  public var value: [UInt8]?
  /// Creates a change of the record `key`.
  public init(key: [UInt8], value: [UInt8]?) {
    self.key = key
    self.value = value
  }
}

/// A device's or app's durable local state: records in lexicographic order of their keys.
///
/// One thread owns a store. Each call blocks until its work is done.
public protocol AgentStore: AnyObject {
  /// The records whose keys begin with `prefix`, ascending by key.
  ///
  /// - Throws: `damaged` if a checksum does not match.
  func load(prefix: [UInt8]) throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
  /// The records whose keys begin with `prefix` and are after `key`, ascending by key, without the one
  /// with the key `skipped`.
  ///
  /// - Throws: `damaged` if a checksum does not match.
  func load(prefix: [UInt8], after key: [UInt8], skipping skipped: [UInt8]?) throws(StoreError)
    -> [(key: [UInt8], value: [UInt8])]
  /// Reads a record's value in parts, so that a long value needs no memory of its own.
  ///
  /// - Parameter body: Receives the number of the value's bytes, and the function that reads them.
  ///   Precondition: the body does not use the store.
  /// - Returns: Whether there is such a record.
  /// - Throws: `damaged` if the checksum of a value that was read to its end does not match; `io` for an
  ///   error of the body that is no `StoreError`.
  func read(_ key: [UInt8], _ body: (Int, NextBytes) throws -> Void) throws(StoreError) -> Bool
  /// Makes the changes durable, in order, as a whole or not at all.
  ///
  /// - Throws: `full` if the disk is full: nothing is changed.
  func apply(_ changes: [Change]) throws(StoreError)
  /// Releases the file. Precondition: no call follows.
  func close()
}

extension AgentStore {
  public func load(prefix: [UInt8], after key: [UInt8], skipping skipped: [UInt8]?)
    throws(StoreError) -> [(key: [UInt8], value: [UInt8])]
  {
    try load(prefix: prefix).filter {
      key.lexicographicallyPrecedes($0.key) && $0.key != skipped
    }
  }

  public func read(_ key: [UInt8], _ body: (Int, NextBytes) throws -> Void) throws(StoreError)
    -> Bool
  {
    guard let value = try load(prefix: key).first, value.key == key else { return false }
    do {
      try value.value.readParts(body)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .io("\(error)")
    }
    return true
  }
}
