package import FamilyCore
import Synchronization

/// A storage in memory, to which also a short history moves.
package final class MemoryHistory: HistoryStorage {
  package let leastBytes: Int
  private let capacity: Int
  private let held = Mutex(0)

  /// Creates a storage that has room for `capacity` bytes.
  package init(leastBytes: Int = 1, capacity: Int = .max) {
    (self.leastBytes, self.capacity) = (leastBytes, capacity)
  }

  /// The bytes of the blocks that have a reference.
  package var bytes: Int { held.withLock { $0 } }

  private final class Block: StoredBlock {
    let storage: MemoryHistory
    let bytes: [UInt8]

    init(_ storage: MemoryHistory, _ bytes: [UInt8]) {
      (self.storage, self.bytes) = (storage, bytes)
    }
    deinit { storage.held.withLock { $0 -= bytes.count } }
    func read() -> [UInt8] { bytes }
  }

  /// Stores a copy of the bytes.
  package func store(_ block: UnsafeRawBufferPointer) -> (any StoredBlock)? {
    let hasRoom = held.withLock { held in
      guard held + block.count <= capacity else { return false }
      held += block.count
      return true
    }
    return hasRoom ? Block(self, [UInt8](block)) : nil
  }
}
