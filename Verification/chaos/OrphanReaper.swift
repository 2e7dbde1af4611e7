import ArgumentParser
import Foundation

/// Ends the processes of a run after chaos itself was killed.
///
/// This process waits for the end of its parent. Then it kills, by id, the processes with the run's
/// folder in their environment. Only root can read the environment of a program with keys, which
/// therefore counts by its arguments. A launched app counts by its home folder.
struct OrphanReaper: ParsableCommand {
  static let name = "orphan-reaper"
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Clean up after a run that was killed.", shouldDisplay: false)
  @Argument var folder: String
  @Argument var parent: Int32

  func run() throws {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    setsid()
    while getppid() == parent { usleep(100_000) }
    // Twice, because a supervisor may have restarted a process between the scan and its own end.
    for _ in 0..<2 {
      for pid in Self.processes(of: folder) { kill(pid, SIGKILL) }
      usleep(300_000)
    }
  }

  private static let programs: Set<Substring> = ["relay", "child-agent", "parent-agent"]

  /// The processes of a run, except this one.
  static func processes(of run: String) -> [pid_t] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter { pid in
      guard pid != getpid() else { return false }
      func texts(_ name: String) -> [String] {
        let data = FileManager.default.contents(atPath: "/proc/\(pid)/\(name)") ?? Data()
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      }
      let marks = ["\(ChaosCluster.runVariable)=\(run)", "HOME=\(run)/"]
      guard !texts("environ").contains(where: { $0 == marks[0] || $0.hasPrefix(marks[1]) }) else {
        return true
      }
      let command = texts("cmdline")
      let program = command.first?.split(separator: "/").last ?? ""
      return programs.contains(program) && command.contains { $0.hasPrefix(run + "/") }
    }
  }
}
