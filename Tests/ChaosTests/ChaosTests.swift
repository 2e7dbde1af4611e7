import Foundation
import Subprocess
import SystemPackage
import Testing

/// The programs stand beside the test bundle.
private let chaos = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("chaos").path

@Suite(.serialized) struct ChaosTests {
  private func run(_ arguments: [String]) async throws -> (isOK: Bool, result: [String: Any]) {
    let folder = "/tmp/prc-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = try await Subprocess.run(
      .path(FilePath(chaos)), arguments: Arguments(arguments + ["--json", "--directory", folder]),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    let text = result.standardOutput ?? ""
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return (result.terminationStatus.isSuccess, try #require(json, "\(result.standardError ?? "")"))
  }

  @Test(
    "X2, K3, M3, R3, R6: whatever is killed, cut, filled or damaged, nothing is lost and nothing is doubled",
    .timeLimit(.minutes(4)))
  func everything() async throws {
    let (isOK, result) = try await run(["--minutes", "0.5", "--seed", "7", "--families", "1"])
    #expect(isOK, "\(result)")
  }
}
