public import Foundation

/// A folder for the files of one run. The folder is removed after the run, also after SIGINT and
/// SIGTERM.
public final class RunFolder {
  /// The folder's path.
  public let url: URL
  private let isKept: Bool
  private let signals: [any DispatchSourceSignal]

  /// Creates the folder with mode 0700.
  ///
  /// - Parameter isKept: Whether the folder stays after the run.
  /// - Throws: ``CreationFailed``.
  public init(_ path: String, isKept: Bool = false) throws(CreationFailed) {
    let url = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CreationFailed(description: "Cannot create \(path): choose another --directory.")
    }
    self.url = url
    self.isKept = isKept
    signals = ChildProcesses.stopOnSignals {
      if !isKept { try? FileManager.default.removeItem(at: url) }
    }
  }

  /// The folder cannot be created.
  public struct CreationFailed: Error, CustomStringConvertible {
    /// The error and its remedy, for a person.
    public let description: String
  }

  /// Uninstalls the signal handlers and removes the folder unless it is kept.
  public func remove() {
    for signal in signals { signal.cancel() }
    if !isKept { try? FileManager.default.removeItem(at: url) }
  }
}
