import Foundation
import Processes

/// `cluster up` with one family whose organizer approves every question, as a process.
final class ClusterProcess {
  private let process = Process()
  private let folder: URL

  init(_ folder: URL) throws {
    self.folder = folder
    let program = try Program("cluster").file
    let scripts = folder.appendingPathComponent("scripts")
    try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
    try Data(#"{"rules": [{"choose": "approve"}]}"#.utf8)
      .write(to: scripts.appendingPathComponent("parent-agent-1-rosa.json"))
    process.executableURL = program
    process.arguments = ["up", "--families", "1", "--json", "--directory", folder.path]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    ChildProcesses.add(process.processIdentifier, endedBy: SIGTERM)
  }

  /// The credential of the app on the child's device.
  var credential: URL {
    folder.appendingPathComponent("agents/child-agent-1/app-1-3-example.landmarks.json")
  }

  func waitUntilReady() async throws {
    let status = folder.appendingPathComponent("agents/child-agent-1/status.json")
    for _ in 0..<600 {
      let text = (try? String(contentsOf: status, encoding: .utf8)) ?? ""
      if text.contains("\"relay\" : \"connected\""), !text.contains("\"position\" : 0") { break }
      guard process.isRunning else { throw RelayUnavailable() }
      try await Task.sleep(for: .milliseconds(50))
    }
    try await Task.sleep(for: .seconds(1))
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
