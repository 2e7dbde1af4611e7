import Foundation
import Processes

/// Runs the bare C reference in `reference/main.c`.
struct Reference {
  struct Result: Codable {
    var approvalsPerSecond: Double
    var relayCPUMicroseconds: Double
  }

  let folder: URL

  func measure(window: Int, seconds: Double) throws -> Result {
    let folder = folder.appendingPathComponent("reference")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = try Program("bench-reference").file
    process.arguments = [folder.path, "\(window)", "\(seconds)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier)
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(Result.self, from: bytes)
  }
}
