import Foundation
import Subprocess
import SystemPackage
import Testing

/// The programs stand beside the test bundle.
private let chaos = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("chaos").path

@Suite(.serialized) struct ChaosTests {
  /// A run; gives what it prints as JSON.
  private func run(_ arguments: [String]) async throws -> (isOK: Bool, result: [String: Any]) {
    let folder = "/tmp/prc-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = try await Subprocess.run(
      .path(FilePath(chaos)),
      arguments: Arguments(arguments + ["--families", "1", "--json", "--directory", folder]),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    let json = try JSONSerialization.jsonObject(with: Data(result.standardOutput.utf8))
    return (
      result.terminationStatus.isSuccess,
      try #require(json as? [String: Any], "\(result.standardError)")
    )
  }

  @Test(
    "X2, K3, M3, R3, R6: whatever is killed, cut, filled or damaged, nothing is lost or doubled",
    .timeLimit(.minutes(5)))
  func everything() async throws {
    let (isOK, result) = try await run(["--minutes", "0.4", "--seed", "7"])
    #expect(isOK, "\(result)")
    let faults = try #require(result["faults"] as? [String: Any])
    #expect(faults.count >= 10, "\(faults.keys.sorted())")
  }

  @Test("X2: a relay that does not sync is caught when the power goes", .timeLimit(.minutes(5)))
  func noSync() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.1", "--seed", "3", "--patience", "5", "--faults", "power-loss", "--mutant",
      "no-sync",
    ])
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(!isOK)
    #expect(verdicts["nothing acknowledged is lost"]?.hasPrefix("violated") ?? false, "\(verdicts)")
  }

  @Test(
    "A3: agents that forget their outbox are caught when they are killed", .timeLimit(.minutes(5)))
  func noOutbox() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.4", "--seed", "5", "--patience", "20", "--faults", "cut,kill", "--mutant",
      "no-outbox",
    ])
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(!isOK)
    let verdict = verdicts["everything arrives after the healing"]
    #expect(verdict?.hasPrefix("violated") ?? false, "\(verdicts)")
  }
}
