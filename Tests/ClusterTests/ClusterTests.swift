import Foundation
import Subprocess
import SystemPackage
import Testing

/// The program in the test bundle's folder.
private let cluster = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("cluster").path

@Suite(.serialized) struct ClusterTests {
  private func run(_ command: String) async throws -> String {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    let result = try await Subprocess.run(
      .path(FilePath(cluster)), arguments: [command, "--directory", folder],
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    // After a failure the folder stays, because the error names its logs.
    try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    try FileManager.default.removeItem(atPath: folder)
    return result.standardOutput
  }

  @Test(
    "X1, K2, K4: the demo approves through real processes and opens only chats with known people",
    .timeLimit(.minutes(20)))
  func demo() async throws {
    let text = try await run("demo")
    #expect(text.contains("All steps succeeded."))
  }

  @Test(
    "X2, R6: SIGKILL of each process at each step loses and doubles nothing",
    .timeLimit(.minutes(30)))
  func kills() async throws {
    let text = try await run("kills")
    #expect(text.contains("40 kills: no response lost or duplicated"))
  }
}
