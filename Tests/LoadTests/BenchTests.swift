import Foundation
import Subprocess
import SystemPackage
import Testing

/// The program in the test bundle's folder.
private let bench = URL(fileURLWithPath: CommandLine.arguments[0])
  .deletingLastPathComponent().appendingPathComponent("bench").path

/// Tests that the benches run. Only release builds give meaningful figures.
@Suite(.serialized) struct BenchTests {
  private func run(_ arguments: [String]) async throws -> (code: Int32, output: String) {
    let result = try await Subprocess.run(
      .path(FilePath(bench)), arguments: Arguments(arguments), output: .string(limit: 1 << 16),
      error: .string(limit: 1 << 16))
    guard case .exited(let code) = result.terminationStatus else { return (-1, "") }
    return (code, result.standardOutput)
  }

  @Test("bench trust: measures each of ten steps", .timeLimit(.minutes(10)))
  func trust() async throws {
    let (code, output) = try await run(["trust", "--times", "2", "--rounds", "1"])
    #expect(code == 0)
    #expect(output.split(separator: "\n").count == 10)
  }

  @Test(
    "O11: bench start measures devices that start from a snapshot", .timeLimit(.minutes(10)))
  func start() async throws {
    struct Result: Decodable {
      var device: String
      var events: Int
      var later: Int
      var snapshotBytes: Int
      var milliseconds: Double
      var residentBytes: Int
    }
    let (code, output) = try await run(["start", "--events", "500", "--starts", "2", "--json"])
    #expect(code == 0)
    let results = try JSONDecoder().decode([Result].self, from: Data(output.utf8))
    #expect(results.map(\.device) == ["guardian", "child"])
    for result in results {
      #expect(result.events >= 500)
      // The newest events are never part of a snapshot.
      #expect(0 < result.later && result.later < 100)
      #expect(result.snapshotBytes > 0 && result.milliseconds > 0 && result.residentBytes > 0)
    }
    let table = try await run(["start", "--events", "340", "--starts", "1"]).output
    #expect(table.contains("guardian") && table.contains("memory, MB"))
  }

  /// Scale: 400 families of 50 events without a snapshot, in seven batches of reads.
  @Test(
    "O8: after kill -9 all devices attach without a failed handshake, and pings pass meanwhile",
    .timeLimit(.minutes(10)))
  func herd() async throws {
    let (code, output) = try await run([
      "herd", "--devices", "400", "--connections", "20", "--events", "50",
    ])
    // Any failed handshake fails the bench.
    #expect(code == 0)
    let attached = output.split(separator: "\n").filter { $0.contains("400 devices attached") }
    #expect(attached.count == 2 && output.contains("kill -9: relay ready after"))
    // Without room between the batches no ping would be answered before the last attachment.
    let pings = output.matches(of: /memory meanwhile: (\d+),/).compactMap { Int($0.1) }
    #expect(pings.count == 2 && pings.allSatisfy { $0 >= 3 }, "\(output)")
  }

  @Test(
    "O6: bench backup measures approvals beside backups of the relay", .timeLimit(.minutes(10)))
  func backup() async throws {
    let (code, output) = try await run([
      // More families than may wait for a read.
      "backup", "--families", "2500", "--stored", "200", "--window", "8", "--seconds", "1",
      "--rounds", "1",
    ])
    #expect(code == 0)
    let lines = output.split(separator: "\n")
    let kinds = ["without a backup", "with a backup", "with : without"]
    #expect(kinds.allSatisfy { kind in lines.contains { $0.hasPrefix(kind) } }, "\(output)")
    #expect(!output.contains("nan"), "\(output)")
  }

  @Test(
    "rejects invalid options",
    arguments: [
      ["relay", "--families", "0"], ["relay", "--windows", "1,,2"], ["relay", "--rounds", "0"],
      ["scale", "--families", "10"], ["scale", "--families", "1000", "100000"],
      ["sockets", "--count", "0"], ["latency", "--rounds", "0"], ["overload", "--seconds", "0"],
      ["trust", "--times", "0"], ["start", "--events", "328"], ["start", "--starts", "0"],
      ["backup", "--rounds", "0"], ["backup", "--window", "0"],
    ])
  func refusals(_ arguments: [String]) async throws {
    #expect(try await run(arguments).code == 64)
  }
}
