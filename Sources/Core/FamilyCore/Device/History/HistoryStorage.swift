/// Keeps settled history outside a device's memory, for the life of the process.
///
/// The stored events and the snapshot are what survives a restart. A storage only replaces memory.
public protocol HistoryStorage: Sendable {
  /// The packed bytes at which a collection moves. Below: the collection stays in memory.
  var leastBytes: Int { get }
  /// Stores a block.
  ///
  /// - Returns: `nil` if the storage has no room. The block then stays in memory.
  func store(_ block: UnsafeRawBufferPointer) -> (any StoredBlock)?
}

/// A block in a ``HistoryStorage``. The last reference frees its room.
public protocol StoredBlock: AnyObject, Sendable {
  /// Reads the block. A block that cannot be read ends the process, as unreadable memory does.
  func read() -> [UInt8]
}
