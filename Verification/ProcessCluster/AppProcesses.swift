package import Foundation

/// The app's processes, started by an agent or by a test that acts as the person.
package enum AppProcesses {
  /// The app's processes among the children of these processes. An app that a device has launched is
  /// the child of its supervisor.
  package static func children(of parents: [pid_t]) -> [pid_t] {
    parents.flatMap { parent -> [pid_t] in
      let tasks =
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
      let found = tasks.flatMap { task -> [pid_t] in
        let path = "/proc/\(parent)/task/\(task)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return children.split(separator: " ").compactMap { pid_t($0) }
      }
      return found.flatMap { pid -> [pid_t] in
        let command = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
        // Compare the program only, because child-agent's arguments contain the app's path.
        let program = command.prefix { $0 != "\0" }
        if program == "app-supervisor" { return children(of: [pid]) }
        return program.hasSuffix("app-agent") ? [pid] : []
      }
    }
  }
}
