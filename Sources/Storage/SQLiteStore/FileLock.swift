import Glibc
import RelayStore
import Synchronization

/// That a file is used once in this process. SQLite keeps other processes out (VFS `unix-excl`).
final class FileLock: Sendable {
  private struct Identity: Hashable {
    var device: dev_t
    var inode: ino_t
  }

  private static let claimed = Mutex(Set<Identity>())
  private let identity = Mutex<Identity?>(nil)

  /// Claims the file.
  ///
  /// - Throws: `locked` where it is claimed.
  init(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .io("stat failed: \(errno)") }
    let identity = Identity(device: status.st_dev, inode: status.st_ino)
    guard Self.claimed.withLock({ $0.insert(identity).inserted }) else { throw .locked }
    self.identity.withLock { $0 = identity }
  }

  /// Lets the file go.
  func end() {
    let identity = identity.withLock { $0.take() }
    if let identity { Self.claimed.withLock { _ = $0.remove(identity) } }
  }

  deinit { end() }
}
