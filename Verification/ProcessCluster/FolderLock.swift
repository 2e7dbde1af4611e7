package import Foundation

/// A cluster's exclusive lock on its folder. Two clusters in one folder would end each other's
/// processes.
package final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Locks the folder and writes the process id of its owner.
  ///
  /// - Throws: `ClusterError` if another cluster holds the lock.
  init(_ layout: Layout) throws {
    let file = layout.pidFile.path
    // O_CLOEXEC: children may outlive a killed cluster and must not keep its lock.
    descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ClusterError("Cannot write \(file): \(String(cString: strerror(errno))).")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      // `deinit` closes the descriptor. A second close here could close another thread's file.
      let owner = Self.owner(of: layout).map { " (process \($0))" } ?? ""
      throw ClusterError(
        "A cluster runs in \(layout.root.path)\(owner): `cluster down --directory \(layout.root.path)`"
          + " stops it, or choose another folder with --directory.")
    }
    ftruncate(descriptor, 0)
    let text = "\(getpid())"
    _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
  }

  deinit { Self.close(descriptor) }

  /// Unlocks explicitly, because a child between fork and exec shares the descriptor.
  private static func close(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  /// The process that holds the lock; `nil` if the folder is not locked.
  package static func owner(of layout: Layout) -> pid_t? {
    let descriptor = open(layout.pidFile.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
    return (try? String(contentsOf: layout.pidFile, encoding: .utf8)).flatMap { pid_t($0) }
  }
}
