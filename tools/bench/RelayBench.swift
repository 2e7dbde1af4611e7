import ArgumentParser
import Foundation
import RelayRuntime

/// The relay alone: approvals a second through its sockets and its disk.
struct RelayBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "Approvals a second of one relay, all committed, at several numbers on the way.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "How many families.") var families = 10_000
  @Option(help: "Approvals on the way at any time.", transform: Self.list) var windows = [
    1, 64, 1_024,
  ]
  @Option(help: "About how many seconds each measurement takes.") var seconds = 3.0
  @Option(help: "How often each is measured; the median is shown.") var rounds = 3
  @Flag(help: "JSON instead of a table.") var json = false

  private static func list(_ text: String) -> [Int] {
    text.split(separator: ",").compactMap { Int($0) }
  }

  struct Result: Codable {
    var window: Int
    var approvalsPerSecond: Double
    var p50Milliseconds: Double
    var p99Milliseconds: Double
    var relayCPUMicrosecondsPerApproval: Double
  }

  func run() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-bench-\(getpid())")
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try RelayKeys.create(in: folder)
    let relay = try RelayProcess(folder)
    defer { relay.stop() }
    if !json { print("making \(families) families …") }
    let clients = try RelayClients(relay: folder, families: families)
    var results: [Result] = []
    for window in windows {
      var rates: [(rate: Double, each: [Double], cpu: Double)] = []
      var count = max(200, window * 4)
      // The first is to find out how many fit the time.
      for round in 0...rounds {
        let before = relay.cpu
        let (total, each) = try clients.approvals(count, window: window)
        let rate = Double(count) / total
        if round > 0 { rates.append((rate, each, (relay.cpu - before) / Double(count))) }
        count = max(200, Int(rate * seconds))
      }
      let median = rates.sorted { $0.rate < $1.rate }[rates.count / 2]
      results.append(
        Result(
          window: window, approvalsPerSecond: median.rate,
          p50Milliseconds: quantile(median.each, 0.5) * 1e3,
          p99Milliseconds: quantile(median.each, 0.99) * 1e3,
          relayCPUMicrosecondsPerApproval: median.cpu * 1e6))
    }
    if json {
      print(String(decoding: try JSONEncoder().encode(results), as: UTF8.self))
    } else {
      print("on the way   approvals/s   p50 ms   p99 ms   relay CPU µs each")
      for r in results {
        print(
          String(
            format: "%10d %13.0f %8.2f %8.2f %19.1f", r.window, r.approvalsPerSecond,
            r.p50Milliseconds, r.p99Milliseconds, r.relayCPUMicrosecondsPerApproval))
      }
    }
  }
}

/// A relay as a process.
final class RelayProcess {
  private let process = Process()

  init(_ folder: URL) throws {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let program = own.deletingLastPathComponent().appendingPathComponent("relay")
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw ClusterMissing()
    }
    process.executableURL = program
    process.arguments = ["--directory", folder.path, "--log-level", "error"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Prints `ready` when both sockets are bound.
    _ = output.fileHandleForReading.availableData
  }

  /// Seconds of CPU that it has used.
  var cpu: Double {
    let path = "/proc/\(process.processIdentifier)/stat"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
