import Foundation

/// A lock that one process holds on a folder until its end.
final class FolderLock {
  private let descriptor: Int32

  /// - Parameter message: The error if another process holds the lock; `nil` waits for that process.
  /// - Throws: `ControlError` with the message, or if the folder cannot be read.
  init(_ folder: URL, orThrow message: String? = nil) throws {
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ControlError("Cannot read the folder '\(folder.path)'.".printable)
    }
    guard flock(descriptor, LOCK_EX | (message == nil ? 0 : LOCK_NB)) == 0 else {
      close(descriptor)
      throw ControlError((message ?? "Cannot lock the folder '\(folder.path)'.").printable)
    }
  }

  deinit { close(descriptor) }
}
