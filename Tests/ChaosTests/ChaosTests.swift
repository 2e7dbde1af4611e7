import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

@testable import chaos

/// The programs stand beside the test bundle.
private let program = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("chaos").path

@Suite(.serialized) struct ChaosTests {
  /// A run; gives what it prints as JSON.
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

  @Test(
    "X2, X3, K3, M3, R3, R6: whatever is killed, cut, filled or damaged, nothing is lost, doubled or told",
    .timeLimit(.minutes(10)))
  func everything() async throws {
    let (isOK, result) = try await run(["--minutes", "0.4", "--seed", "7"])
    #expect(isOK, "\(result)")
    let faults = try #require(result["faults"] as? [String: Any])
    #expect(faults.count >= 10, "\(faults.keys.sorted())")
  }

  @Test("X3: who is told of in a log or an argument of a run is found")
  func telltale() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let layout = Layout(folder.path)
    try layout.prepare()
    for name in ["relay", "child-agent-1", "app-1-3"] {
      try Data("applied seq=1\n".utf8).write(to: layout.log(name))
    }
    let secrecy = LeakCheck(layout, .example(1))
    secrecy.note(["relay", "--log-level", "info"])
    secrecy.note(["app-agent", "background"])
    secrecy.note(["app-agent", "ask", "--handle", "p1-yes-alex-x"])
    #expect(try secrecy.findings(agents: 1) == [])
    #expect(try secrecy.findings(agents: 2) == ["only 3 logs were searched"])

    try Data("handled p1-yes-alex-x by Rosa\n".utf8).write(to: layout.log("child-agent-1"))
    secrecy.note(["app-agent", "background", "--handle", "friend7@example.org"])
    #expect(
      try Set(secrecy.findings(agents: 1)) == [
        "alex-x in child-agent-1.log", "Rosa in child-agent-1.log",
        "example.org in a process's arguments",
      ])
  }

  @Test("X2: a relay that does not sync is caught when the power goes", .timeLimit(.minutes(10)))
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
    "A3: agents that forget their outbox are caught when they are killed", .timeLimit(.minutes(10)))
  func noOutbox() async throws {
    // A slow machine has few questions on their way when an agent dies: so there is more than one run.
    for seed in 5..<10 {
      let (isOK, result) = try await run([
        "--minutes", "0.4", "--seed", "\(seed)", "--patience", "20", "--faults", "cut,kill",
        "--mutant", "no-outbox",
      ])
      let verdicts = try #require(result["verdicts"] as? [String: String])
      guard !isOK else { continue }
      let verdict = verdicts["everything arrives after the healing"]
      #expect(verdict?.hasPrefix("violated") ?? false, "\(verdicts)")
      return
    }
    Issue.record("none of five runs caught it")
  }
}
