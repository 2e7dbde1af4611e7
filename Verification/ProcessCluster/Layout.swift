package import Foundation

/// The paths of a cluster's files and programs.
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

  /// The folder of the cluster's app on a child's device.
  package func appFolder(family: UInt64, device: UInt32) -> URL {
    agent("child-agent-\(family)")
      .appendingPathComponent("app-\(family)-\(device)-\(RunningCluster.app)")
  }

  /// The credential of the cluster's app on a child's device.
  package func appCredential(family: UInt64, device: UInt32) -> URL {
    appFolder(family: family, device: device).appendingPathExtension("json")
  }

  /// The path of a program, in the folder of the running one.
  package static func program(_ name: String) -> String {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
      .path
  }

  /// Checks that the programs of a cluster were built beside this one.
  ///
  /// - Throws: `ClusterError` with the commands that build them.
  package static func checkPrograms() throws {
    let programs = ["relay", "relayctl", "child-agent", "parent-agent"]
    let missing = programs.filter { !FileManager.default.isExecutableFile(atPath: program($0)) }
    guard !missing.isEmpty else { return }
    throw ClusterError(
      "These programs are not built: \(missing.joined(separator: ", ")). Build them with "
        + missing.map { "swift build --product \($0)" }.joined(separator: " && "))
  }

  /// Removes the files of an earlier cluster.
  ///
  /// - Throws: `ClusterError` if a cluster runs in the folder or the folder was not made by a
  ///   cluster.
  package func clear() throws {
    guard let found = try? FileManager.default.contentsOfDirectory(atPath: root.path) else {
      return
    }
    guard found.isEmpty || found.contains(families.lastPathComponent) else {
      throw ClusterError(
        "\(root.path) was not made by a cluster: choose a new folder with --directory.")
    }
    _ = try FolderLock(self)
    try checkOrphans()
    try FileManager.default.removeItem(at: root)
  }

  /// Checks for processes of a killed cluster, which would still use the stores of the next one.
  ///
  /// - Throws: `ClusterError` if such processes run.
  func checkOrphans() throws {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let found = all.compactMap { pid_t($0) }.sorted().filter { pid in
      let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
      let words = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      let programs = ["relay", "child-agent", "parent-agent"].map(Self.program)
      return programs.contains(words.first ?? "")
        && words.contains { $0.hasPrefix(root.path + "/") }
    }
    guard found.isEmpty else {
      throw ClusterError(
        "Processes of an earlier cluster run in \(root.path). To end them: kill "
          + found.map(String.init).joined(separator: " "))
    }
  }

  package func prepare() throws {
    umask(0o077)
    for folder in [
      root, root.appendingPathComponent("logs"), scripts,
      root.appendingPathComponent("agents"),
    ] {
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw ClusterError("Cannot create \(folder.path): choose another folder with --directory.")
      }
    }
    // The path of a unix socket has at most 107 bytes; the longest one is in an agent's folder.
    guard agent("parent-agent-1000000").path.utf8.count < 90 else {
      throw ClusterError("The folder's path is too long for unix sockets: choose a shorter one.")
    }
  }
}

/// An error of a cluster, with a remedy for a person.
package struct ClusterError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
