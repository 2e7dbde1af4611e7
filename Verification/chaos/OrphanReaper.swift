import ArgumentParser
import Foundation

/// Ends what is left of a run when chaos itself was killed.
///
/// It is a process beside chaos that waits until its parent is gone, and then kills, one by one, the processes
/// that have the run's folder in their environment.
struct OrphanReaper: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Clean up after a run that was killed.", shouldDisplay: false)
  @Argument var folder: String
  @Argument var parent: Int32

  func run() throws {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    setsid()
    while getppid() == parent { usleep(100_000) }
    // Twice: a supervisor that was still alive may have started one more.
    for _ in 0..<2 {
      for pid in Self.processes(of: folder) { kill(pid, SIGKILL) }
      usleep(300_000)
    }
  }

  /// The processes of a run, but for this one.
  static func processes(of run: String) -> [pid_t] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter { pid in
      guard pid != getpid(),
        let data = FileManager.default.contents(atPath: "/proc/\(pid)/environ")
      else { return false }
      let mark = "\(ChaosCluster.runVariable)=\(run)"
      return data.split(separator: 0).contains { $0.elementsEqual(mark.utf8) }
    }
  }
}
