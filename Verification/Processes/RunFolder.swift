public import Foundation

/// A folder for a run, which goes with it, at Ctrl-C too.
public final class RunFolder {
  /// Where it is.
  public let url: URL
  private let isKept: Bool
  private let signals: [any DispatchSourceSignal]

  /// Makes it, for its owner alone.
  ///
  /// - Parameter isKept: Whether it stays after the run, for a look.
  /// - Throws: ``Refused`` when it cannot be made.
  public init(_ path: String, isKept: Bool = false) throws(Refused) {
    let url = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw Refused(description: "Cannot make \(path): choose another --directory.") }
    self.url = url
    self.isKept = isKept
    signals = ChildProcesses.endOnSignals {
      if !isKept { try? FileManager.default.removeItem(at: url) }
    }
  }

  /// The folder cannot be made, and what to do.
  public struct Refused: Error, CustomStringConvertible {
    /// What to do.
    public let description: String
  }

  /// Ends its use: it is removed, unless it is kept.
  public func remove() {
    for signal in signals { signal.cancel() }
    if !isKept { try? FileManager.default.removeItem(at: url) }
  }
}
