import Foundation
import Subprocess
import SystemPackage
import Testing

/// The programs stand beside the test bundle.
private let cluster = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("cluster").path

@Suite(.serialized) struct ClusterTests {
  private func run(_ command: String) async throws -> String {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    let result = try await Subprocess.run(
      .path(FilePath(cluster)), arguments: [command, "--directory", folder],
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    // Where it failed, the logs that it names stay.
    try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    try FileManager.default.removeItem(atPath: folder)
    return result.standardOutput
  }

  @Test(
    "X1, K2, K4: the demo's approvals go through real processes, and open only the chats of known people",
    .timeLimit(.minutes(10)))
  func demo() async throws {
    let text = try await run("demo")
    #expect(text.contains("All steps succeeded."))
  }

  @Test(
    "X2, R6: kill -9 of each process at each step loses nothing and doubles nothing",
    .timeLimit(.minutes(10)))
  func kills() async throws {
    let text = try await run("kills")
    #expect(text.contains("40 kills: no response lost or duplicated"))
  }
}
