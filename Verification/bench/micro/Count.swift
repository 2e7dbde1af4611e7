import ArgumentParser
import FamilyModel
import Foundation
import TextTable

nonisolated(unsafe) private var measured: () -> Void = {}

/// The measured function. callgrind finds it by its name and counts only its instructions.
@inline(never) func permissionRelayMeasured() { measured() }

/// Runs one part repeatedly under callgrind.
struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @Argument var name: String

  static let runs = 200

  func run() throws {
    guard let part = try Part.all().first(where: { $0.name == name }) else {
      throw ValidationError("Unknown part: \(name).")
    }
    // Warm up, so that lazy initialization is not counted.
    for _ in 0..<50 { part.run() }
    measured = { for _ in 0..<Self.runs { part.run() } }
    permissionRelayMeasured()
  }
}

/// Compares the instruction counts of all parts with the committed thresholds.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Count instructions with callgrind and compare them with thresholds.json.",
    discussion: "Counts are reproducible on any machine with the same toolchain, even a busy one.")
  @Option(help: "The thresholds file.") var thresholds =
    "Verification/bench/micro/thresholds.json"
  @Flag(help: "Write the counts of this machine as the new thresholds.") var refresh = false

  private struct Thresholds: Codable {
    /// The toolchain for which the counts hold.
    var environment: String
    /// The allowed relative increase of a count: 0.03 is 3 %.
    var tolerance: Double
    var instructions: [String: Int]
  }

  func run() throws {
    let environment = Environment.text
    let file = URL(fileURLWithPath: thresholds)
    guard refresh || FileManager.default.fileExists(atPath: file.path) else {
      throw ValidationError(
        "\(thresholds) does not exist: run in the repository's folder, or pass --thresholds."
      )
    }
    let known = try? JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: file))
    if !refresh, known?.environment != environment {
      print(
        """
        Not compared: the thresholds hold for another toolchain.
        thresholds: \(known?.environment ?? "none")
        this machine: \(environment)
        To refresh them: swift run -c release bench-micro check --refresh
        """)
      return
    }
    let counts = try Self.counts()
    guard !refresh, let known else {
      let new = Thresholds(environment: environment, tolerance: 0.03, instructions: counts)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try (encoder.encode(new) + Data("\n".utf8)).write(to: file)
      return print("\(counts.count) counts written to \(thresholds)")
    }
    var failures = 0
    var rows = [["part", "instructions", "threshold", "change", ""]]
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      let threshold = known.instructions[name]
      let change = threshold.map { Double(count) / Double($0) - 1 }
      let isTooMany = change.map { $0 > known.tolerance } ?? true
      if isTooMany { failures += 1 }
      rows.append([
        name, "\(count)", threshold.map { "\($0)" } ?? "none",
        change.map { String(format: "%+.1f %%", $0 * 100) } ?? "", isTooMany ? "too many" : "",
      ])
    }
    print(Table.render(rows))
    guard failures == 0 else {
      print("To accept the new counts: swift run -c release bench-micro check --refresh")
      throw ExitCode.failure
    }
  }

  /// Counts each part in its own process, four processes at a time.
  private static func counts() throws -> [String: Int] {
    let names = try Part.all().map(\.name)
    var counts: [String: Int] = [:]
    for start in stride(from: 0, to: names.count, by: 4) {
      let running = try names[start..<min(start + 4, names.count)].map { name in
        (name, try Callgrind(name))
      }
      for (name, callgrind) in running { counts[name] = try callgrind.count() / Count.runs }
    }
    return counts
  }
}

/// A callgrind process that counts one part.
final class Callgrind {
  private let process = Process()
  private let file = FileManager.default.temporaryDirectory.appendingPathComponent(
    "callgrind-\(UUID().uuidString)")

  init(_ name: String) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "valgrind", "--tool=callgrind", "--toggle-collect=*permissionRelayMeasured*",
      "--callgrind-out-file=\(file.path)", CommandLine.arguments[0], "count", name,
    ]
    // Without this variable, Swift seeds its hashes differently in every run.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  func count() throws -> Int {
    process.waitUntilExit()
    defer { try? FileManager.default.removeItem(at: file) }
    guard process.terminationStatus == 0,
      let line = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").last(
        where: { $0.hasPrefix("totals:") || $0.hasPrefix("summary:") }),
      let number = line.split(separator: " ").last.flatMap({ Int($0) }), number > 0
    else { throw ValidationError("valgrind failed: is it installed?") }
    return number
  }
}

/// The toolchain on which instruction counts depend.
enum Environment {
  static var text: String {
    #if arch(x86_64)
      let architecture = "x86_64"
    #else
      let architecture = "another architecture"
    #endif
    let tools = [["swift", "--version"], ["ldd", "--version"]].map(firstLine)
    return ([architecture] + tools + ["SQLite \(StorePart.version)"]).joined(separator: ", ")
  }

  /// The first line that the command prints.
  private static func firstLine(_ command: [String]) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return "no \(command[0])" }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").first.map(String.init) ?? "no \(command[0])"
  }
}
