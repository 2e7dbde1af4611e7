import Foundation
import Testing

extension Process {
  /// The worker as a separate process, which prints `ready`.
  static func contentWorker(in folder: URL) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: TestApp.program).deletingLastPathComponent()
      .appendingPathComponent("content-worker")
    process.arguments = [
      "--directory", folder.path, "--hashes", folder.appendingPathComponent("list").path,
      "--log-level", "error",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    try #require(text == "ready\n")
    return process
  }

  /// Stops all threads of the process, which continues after SIGCONT. The signal itself takes effect later.
  func stopThreads() async throws {
    kill(processIdentifier, SIGSTOP)
    let tasks = "/proc/\(processIdentifier)/task"
    func isStopped() -> Bool {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      return threads.allSatisfy { thread in
        let stat = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
        return stat?.contains(") T ") ?? false
      }
    }
    while !isStopped() { try await Task.sleep(for: .milliseconds(1)) }
  }
}
