public import Foundation

/// A program of this package, beside the one that runs.
public struct Program: Sendable {
  /// Its file.
  public let file: URL

  /// The program `name`.
  ///
  /// - Throws: ``Missing`` when it is not built.
  public init(_ name: String) throws(Missing) {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    file = own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
    guard FileManager.default.isExecutableFile(atPath: file.path) else {
      throw Missing(name: name)
    }
  }

  /// A program is not built.
  public struct Missing: Error, CustomStringConvertible {
    /// Which one.
    public let name: String
    /// What to do.
    public var description: String {
      "The program \(name) is not built: swift build -c release (or without -c release)."
    }
  }
}
