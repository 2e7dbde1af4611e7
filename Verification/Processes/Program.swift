public import Foundation

/// An executable of this package, in the same folder as the running one.
public struct Program: Sendable {
  /// The executable file.
  public let file: URL

  /// Finds the program `name`.
  ///
  /// - Throws: ``Missing`` if the program is not built.
  public init(_ name: String) throws(Missing) {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    file = own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
    guard FileManager.default.isExecutableFile(atPath: file.path) else {
      throw Missing(name: name)
    }
  }

  /// A program that is not built.
  public struct Missing: Error, CustomStringConvertible {
    /// The program's name.
    public let name: String
    /// The error and its remedy, for a person.
    public var description: String {
      "The program \(name) is not built. Build it in the same configuration: swift build"
        + " [-c release]."
    }
  }
}
