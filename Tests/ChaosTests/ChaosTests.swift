import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

@testable import chaos

/// The program in the test bundle's folder.
private let program = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("chaos").path

@Suite(.serialized) struct ChaosTests {
  /// Runs chaos and decodes its JSON output.
  private func run(_ arguments: [String]) async throws -> (isOK: Bool, result: [String: Any]) {
    let folder = "/tmp/prc-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = try await Subprocess.run(
      .path(FilePath(program)),
      arguments: Arguments(arguments + ["--families", "1", "--json", "--directory", folder]),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    let json = try JSONSerialization.jsonObject(with: Data(result.standardOutput.utf8))
    return (
      result.terminationStatus.isSuccess,
      try #require(json as? [String: Any], "\(result.standardError)")
    )
  }

  /// Runs chaos with one seed after another until a run fails, because a mutant needs faults that meet
  /// work. Records an issue if no run fails.
  private func firstFailure(
    _ seeds: Range<Int>, _ arguments: [String]
  ) async throws -> [String: Any]? {
    for seed in seeds {
      let (isOK, result) = try await run(arguments + ["--seed", "\(seed)"])
      if !isOK { return result }
    }
    Issue.record("none of \(seeds.count) runs found the mutant")
    return nil
  }

  @Test(
    "X2, X3, K3, M3, R3, R6: loses, doubles and leaks nothing under kills, cuts, full disks and damage",
    .timeLimit(.minutes(10)))
  func everything() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.4", "--seed", "7", "--crowd", "20", "--rate", "60",
    ])
    #expect(isOK, "\(result)")
    let faults = try #require(result["faults"] as? [String: Any])
    #expect(faults.count >= 10, "\(faults.keys.sorted())")
  }

  /// The folder of the previous release's programs, from `tools/previous`; `nil`: not built.
  private static let previous = ProcessInfo.processInfo.environment["PERMISSION_RELAY_PREVIOUS"]

  @Test(
    "O5: two releases run side by side, and each takes the other's stores over",
    .enabled(if: previous != nil), .timeLimit(.minutes(10)))
  func twoReleases() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.5", "--seed", "3", "--faults", "kill,terminate,cut", "--pause", "1",
      "--previous", try #require(Self.previous),
    ])
    #expect(isOK, "\(result)")
    let faults = try #require(result["faults"] as? [String: Any])
    #expect(faults["kill"] != nil && faults["terminate"] != nil, "\(faults.keys.sorted())")
  }

  @Test("X3: reports personal data in the logs and arguments of a run")
  func telltale() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let layout = Layout(folder.path)
    try layout.prepare()
    for name in ["relay", "child-agent-1", "app-1-3"] {
      try Data("applied seq=1\n".utf8).write(to: layout.log(name))
    }
    let leaks = LeakCheck(layout, .example(1))
    leaks.addArguments(["relay", "--log-level", "info"])
    leaks.addArguments(["app-agent", "background"])
    leaks.addArguments(["app-agent", "ask", "--handle", "p1-yes-alex-x"])
    #expect(try leaks.findings(agents: 1) == [])
    #expect(try leaks.findings(agents: 2) == ["only 3 logs were searched"])

    try Data("handled p1-yes-alex-x by Rosa\n".utf8).write(to: layout.log("child-agent-1"))
    leaks.addArguments(["app-agent", "background", "--handle", "friend7@example.org"])
    #expect(
      try Set(leaks.findings(agents: 1)) == [
        "alex-x in child-agent-1.log", "Rosa in child-agent-1.log",
        "example.org in a process's arguments",
      ])
  }

  @Test("X2: finds a relay that does not sync after a power loss", .timeLimit(.minutes(10)))
  func noSync() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.1", "--seed", "3", "--patience", "5", "--faults", "power-loss", "--mutant",
      "no-sync",
    ])
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(!isOK)
    #expect(verdicts["nothing acknowledged is lost"]?.hasPrefix("violated") ?? false, "\(verdicts)")
  }

  @Test("A3: finds agents that do not sync after a power loss", .timeLimit(.minutes(10)))
  func noAgentSync() async throws {
    // The relay alone may lose power, so try several seeds.
    let result = try await firstFailure(
      3..<8,
      [
        "--minutes", "0.2", "--patience", "10", "--faults", "power-loss", "--mutant",
        "no-agent-sync",
      ])
    guard let result else { return }
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(verdicts.values.contains { $0.hasPrefix("violated") }, "\(verdicts)")
  }

  @Test("finds processes that end with an error after SIGTERM", .timeLimit(.minutes(10)))
  func badExit() async throws {
    // A process is judged some seconds after its start only.
    let (isOK, result) = try await run([
      "--minutes", "0.4", "--seed", "23", "--faults", "terminate", "--mutant", "bad-exit",
    ])
    let findings = try #require(result["findings"] as? [String])
    #expect(!isOK)
    #expect(findings.contains { $0.contains("exited(1) after SIGTERM") }, "\(findings)")
  }

  @Test("X2: finds stores that ignore the error of a sync", .timeLimit(.minutes(10)))
  func syncError() async throws {
    // A failed sync and a power loss must meet in one process, so try several seeds.
    _ = try await firstFailure(
      23..<28,
      [
        "--minutes", "0.4", "--patience", "10", "--faults", "disk-error,power-loss", "--mutant",
        "sync-error",
      ])
  }

  @Test("X2: devices give back what a restored relay lost", .timeLimit(.minutes(10)))
  func restoredCopy() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.2", "--seed", "31", "--faults", "restored-copy",
    ])
    #expect(isOK, "\(result)")
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(verdicts["devices give back what the relay lost"] == "ok", "\(verdicts)")
  }

  @Test("X2: finds devices that give nothing back to a restored relay", .timeLimit(.minutes(10)))
  func noGivingBack() async throws {
    let (isOK, result) = try await run([
      "--minutes", "0.2", "--seed", "31", "--patience", "10", "--faults", "restored-copy",
      "--mutant", "no-giving-back",
    ])
    let verdicts = try #require(result["verdicts"] as? [String: String])
    #expect(!isOK)
    let verdict = verdicts["devices give back what the relay lost"]
    #expect(verdict?.hasPrefix("violated") ?? false, "\(verdicts)")
  }

  @Test(
    "A3: finds agents that lose their outboxes when they are killed", .timeLimit(.minutes(10)))
  func noOutbox() async throws {
    // On a slow machine few questions are in flight when an agent is killed, so try several seeds.
    let result = try await firstFailure(
      5..<10,
      ["--minutes", "0.4", "--patience", "20", "--faults", "cut,kill", "--mutant", "no-outbox"])
    guard let result else { return }
    let verdicts = try #require(result["verdicts"] as? [String: String])
    let verdict = verdicts["everything arrives after the healing"]
    #expect(verdict?.hasPrefix("violated") ?? false, "\(verdicts)")
  }
}
