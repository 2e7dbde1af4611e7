package import Foundation

/// Where a cluster keeps its files, and its programs.
package struct Layout: Sendable {
  package let root: URL

  package init(_ path: String) { root = URL(fileURLWithPath: path).standardizedFileURL }

  package var relay: URL { root.appendingPathComponent("relay") }
  package var credentials: URL { root.appendingPathComponent("credentials") }
  package func credential(_ family: UInt64, _ member: String) -> URL {
    credentials.appendingPathComponent("family-\(family)-\(member)-1.json")
  }
  package var families: URL { root.appendingPathComponent("families.json") }
  package var scripts: URL { root.appendingPathComponent("scripts") }
  package var pidFile: URL { root.appendingPathComponent("cluster.pid") }
  package func log(_ name: String) -> URL { root.appendingPathComponent("logs/\(name).log") }
  package func agent(_ name: String) -> URL { root.appendingPathComponent("agents/\(name)") }

  /// The programs stand beside this one.
  package static func program(_ name: String) -> String {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
      .path
  }

  package func prepare() throws {
    umask(0o077)
    for folder in [
      root, root.appendingPathComponent("logs"), scripts,
      root.appendingPathComponent("agents"),
    ] {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    // A unix socket's path has at most 107 bytes, and the longest of ours comes below an agent.
    guard agent("parent-agent-1000000").path.utf8.count < 90 else {
      throw ClusterError("The folder's path is too long for unix sockets: choose a shorter one.")
    }
  }
}

/// What went wrong, and what to do.
package struct ClusterError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
