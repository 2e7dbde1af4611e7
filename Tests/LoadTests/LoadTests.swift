import Foundation
@testable import load
import Subprocess
import SystemPackage
import Testing

/// The program in the test bundle's folder.
private let load = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("load").path

/// The parts of the `--json` output that the tests use.
private struct Results: Decodable {
  struct Counts: Decodable {
    var asked: Int
    var finished: Int
    var launches: Int
    var alreadyAsked: Int
    var lateAnswers: Int
    var wrongAnswers: Int
  }
  struct Checks: Decodable {
    struct Row: Decodable {
      var name: String
      var ok: Int
      var unknown: Int
      var violated: Int
    }
    var families: Int
    var acknowledgements: Int
    var rows: [Row]
  }
  struct Times: Decodable { var count: Int }
  struct Row: Decodable {
    var name: String
    var times: Times
  }
  var counts: Counts
  var checks: Checks
  var unfinished: Int
  var kinds: [Row]
}

@Suite(.serialized) struct LoadTests {
  private func run(_ arguments: String...) async throws -> (
    code: Int32, text: String, errors: String
  ) {
    let result = try await Subprocess.run(
      .path(FilePath(load)), arguments: Arguments(arguments), output: .string(limit: 1 << 22),
      error: .string(limit: 1 << 20))
    guard case .exited(let code) = result.terminationStatus else { return (-1, "", "") }
    return (code, result.standardOutput, result.standardError)
  }

  @Test(
    "X2, R3, R6, A6: answers questions of every kind correctly for 300 families and writes a report",
    .timeLimit(.minutes(20)))
  func everyKind() async throws {
    let html = "/tmp/pr-load-test-\(UUID().uuidString.prefix(8)).html"
    defer { try? FileManager.default.removeItem(atPath: html) }
    let (code, text, errors) = try await run(
      "--families", "300", "--rate", "40", "--seconds", "6", "--workers", "2", "--check-every", "2",
      "--mix", "approve=4,decline=2,choice=2,race=3,duplicate=2,asleep=2,off=1", "--html", html,
      "--json")
    try #require(code == 0, "\(text)\(errors)")
    let results = try JSONDecoder().decode(Results.self, from: Data(text.utf8))
    // The seed determines the plan; even a slow machine asks all its questions.
    let plan = LoadPlan(
      seed: 1, rate: 40, seconds: 6, families: 300,
      mix: Mix("approve=4,decline=2,choice=2,race=3,duplicate=2,asleep=2,off=1")!)
    #expect(results.counts.asked == Array(plan).count)
    #expect(results.counts.finished == results.counts.asked && results.unfinished == 0)
    #expect(results.counts.wrongAnswers == 0)
    #expect(results.counts.launches > 0 && results.counts.alreadyAsked > 0)
    #expect(results.kinds.allSatisfy { $0.times.count > 0 })
    #expect(results.checks.families == 150)
    // At least the question and the decision of each approval.
    #expect(results.checks.acknowledgements >= 2 * results.counts.asked)
    #expect(results.checks.rows.count == 10)
    #expect(results.checks.rows.allSatisfy { $0.violated == 0 && $0.unknown == 0 && $0.ok > 0 })
    let page = try String(contentsOfFile: html, encoding: .utf8)
    #expect(page.components(separatedBy: "<svg ").count == 7)
    #expect(page.contains("All checks passed.") && !page.contains("http"))
  }

  @Test(
    "rejects invalid options with a remedy",
    arguments: [
      ["--mix", "sometimes=1"], ["--ramp"], ["--objective", "fast"], ["--guardians", "3"],
      ["--soak", "1", "--seconds", "5"], ["--check-every", "0"], ["--html", "/nowhere/load.html"],
      ["--html", "/tmp"],
    ])
  func refusals(_ arguments: [String]) async throws {
    let result = try await Subprocess.run(
      .path(FilePath(load)), arguments: Arguments(arguments), output: .string(limit: 1 << 16),
      error: .string(limit: 1 << 16))
    #expect(result.terminationStatus == .exited(64))
    #expect(result.standardError.hasPrefix("Error:"))
  }
}
