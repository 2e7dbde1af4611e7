package import Foundation

/// A cluster's hold on its folder, for as long as its process lives: two clusters in one folder would end each
/// other's processes.
package final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Takes the folder, and writes who has it.
  ///
  /// - Throws: `ClusterError` when another cluster has it.
  init(_ layout: Layout) throws {
    let file = layout.pidFile.path
    // Closed in children: they may outlive a cluster that is killed.
    descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ClusterError("Cannot write \(file): \(String(cString: strerror(errno))).")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(descriptor)
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

  /// A child that is just being started has the descriptor, too, and would keep the lock for that long.
  private static func close(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  /// The process that has the folder, if one has.
  package static func owner(of layout: Layout) -> pid_t? {
    let descriptor = open(layout.pidFile.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
    return (try? String(contentsOf: layout.pidFile, encoding: .utf8)).flatMap { pid_t($0) }
  }
}
