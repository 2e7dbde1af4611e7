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
}
