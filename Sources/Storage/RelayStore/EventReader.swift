public import FamilyModel

/// The reads of an ``EventStore``.
public protocol EventReading: AnyObject {
  /// See ``EventStore/snapshot(of:)``.
  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot?
  /// See ``EventStore/load(_:after:)``.
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily
  /// See ``EventStore/events(of:_:after:through:limit:bytes:)``.
  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  )
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  /// See ``EventStore/event(of:by:in:)``.
  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) throws(StoreError)
    -> StoredEvent?
}

/// Reads a store beside its commits, on another thread than the store's.
///
/// - **Calls** come from any thread, one at a time.
/// - **Visibility**: a read sees all commits that returned before ``EventStore/positions(of:)``, of
///   the families that ``begin(_:)`` named. Later commits may be visible or not, each as a whole.
/// - **Errors**: a failed read may have met a change under way. The caller repeats the read with the
///   store before the record counts as damaged.
public protocol EventReader: EventReading, Sendable {
  /// Begins some reads of these families.
  func begin(_ positions: ReadPositions)
  /// Releases the reader's resources. Precondition: the store is open, and no call follows.
  func close()
}

/// Where a reader finds the newest events of some families.
public struct ReadPositions: Sendable {
  /// The place of a family's newest event.
  public struct Position: Sendable, Hashable {
    /// The engine's number of the record.
    public var row: Int64
    /// The event's sequence number.
    public var seq: UInt64
    /// A position.
    public init(row: Int64, seq: UInt64) { (self.row, self.seq) = (row, seq) }
  }

  /// The known positions. The reader finds those of other families in the store.
  public var newest: [FamilyID: Position] = [:]
  /// No known position.
  public init() {}
}

extension EventStore {
  public func openReader() throws(StoreError) -> (any EventReader)? { nil }

  public func positions(of families: [FamilyID]) -> ReadPositions { ReadPositions() }
}
