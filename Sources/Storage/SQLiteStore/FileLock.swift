import Glibc
import RelayStore
import Synchronization

/// A lock that only one store of this process can hold per file. SQLite's VFS `unix-excl` excludes
/// other processes.
final class FileLock: Sendable {
  private struct Identity: Hashable {
    var device: dev_t
    var inode: ino_t
  }

  private static let lockedFiles = Mutex(Set<Identity>())
  private let identity = Mutex<Identity?>(nil)

  /// Locks the file until ``unlock()``.
  ///
  /// - Throws: `locked` if another store of this process holds the lock.
  init(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .io("stat failed: \(errno)") }
    let identity = Identity(device: status.st_dev, inode: status.st_ino)
    guard Self.lockedFiles.withLock({ $0.insert(identity).inserted }) else { throw .locked }
    self.identity.withLock { $0 = identity }
  }

  /// Releases the lock. Further calls do nothing.
  func unlock() {
    let identity = identity.withLock { $0.take() }
    if let identity { Self.lockedFiles.withLock { _ = $0.remove(identity) } }
  }

  deinit { unlock() }
}
