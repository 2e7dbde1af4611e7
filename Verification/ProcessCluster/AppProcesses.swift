package import Foundation

/// The processes of the app: an agent starts them, or whoever plays the person who opens the app.
package enum AppProcesses {
  /// Those that these processes started.
  package static func children(of parents: [pid_t]) -> [pid_t] {
    parents.flatMap { parent -> [pid_t] in
      let tasks =
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
      return tasks.flatMap { task -> [pid_t] in
        let path = "/proc/\(parent)/task/\(task)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return children.split(separator: " ").compactMap { pid_t($0) }
      }
    }.filter { pid in
      let command = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
      // The program alone: child-agent has the app's among its arguments.
      return command.prefix { $0 != "\0" }.hasSuffix("app-agent")
    }
  }
}
