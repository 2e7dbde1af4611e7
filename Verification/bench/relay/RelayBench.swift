import ArgumentParser
import Foundation
import Processes
import Statistics
import TextTable

/// Measures the relay beside a bare C reference in the same run.
struct RelayBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract:
      "Measure approvals per second of one relay, with and without encryption, beside a C reference.",
    discussion: """
      An approval ends when question and decision are committed and the child's device has acknowledged.
      Build everything first: swift build -c release
      """)
  @Option(help: "Number of families.") var families: UInt64 = 10_000
  @Option(help: "Numbers of approvals in flight, comma-separated.")
  var windows = NumberList([1, 64, 1_024])
  @Option(help: "Seconds of each measurement.") var seconds = 3.0
  @Option(help: "Interleaved measurements of each program; medians are shown.") var rounds = 3
  @Flag(help: "Print JSON instead of a table.") var json = false

  func validate() throws {
    guard families >= 1, rounds >= 1, seconds > 0 else {
      throw ValidationError("--families and --rounds are 1 or more, --seconds is above 0.")
    }
  }

  struct Figures: Codable {
    var approvalsPerSecond: Double
    var relayCPUMicroseconds: Double
    /// The CPU time of the bench clients, which share the machine with the relay.
    var clientCPUMicroseconds = 0.0
    var p50Milliseconds = 0.0
    var p99Milliseconds = 0.0
  }

  struct Result: Codable {
    var window: Int
    var reference: Figures
    var plain: Figures
    var encrypted: Figures
  }

  func run() async throws {
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    let reference = Reference(folder: folder)
    if !json { print("creating \(families) families on each of two relays …") }
    let relays = try [true, false].map { isPlain in
      try MeasuredRelay(folder.appendingPathComponent(isPlain ? "plain" : "full"), isPlain: isPlain)
    }
    defer { relays.forEach { $0.process.stop() } }
    let loads = try relays.map { try ApprovalLoad(at: $0.address, families: families) }
    var results: [Result] = []
    for window in windows.values {
      var rounds: [[Figures]] = [[], [], []]
      for _ in 0..<self.rounds {
        let bare = try reference.measure(window: window, seconds: seconds)
        rounds[0].append(
          Figures(
            approvalsPerSecond: bare.approvalsPerSecond,
            relayCPUMicroseconds: bare.relayCPUMicroseconds))
        for (index, relay) in relays.enumerated() {
          rounds[index + 1].append(try measure(loads[index], relay, window))
        }
      }
      let medians = rounds.map { figures in
        figures.sorted { $0.approvalsPerSecond < $1.approvalsPerSecond }[figures.count / 2]
      }
      results.append(
        Result(window: window, reference: medians[0], plain: medians[1], encrypted: medians[2]))
    }
    loads.forEach { $0.stop() }
    if json {
      print(String(decoding: try JSONEncoder().encode(results), as: UTF8.self))
    } else {
      show(results)
    }
  }

  private func measure(_ load: ApprovalLoad, _ relay: MeasuredRelay, _ window: Int) throws
    -> Figures
  {
    try load.set(window: window)
    usleep(500_000)
    let (cpu, own, start) = (
      relay.process.cpuSeconds, Self.ownCPU, DispatchTime.now().uptimeNanoseconds
    )
    _ = load.takeSample()
    usleep(UInt32(seconds * 1e6))
    let sample = load.takeSample()
    let took = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    let (used, usedHere) = (relay.process.cpuSeconds - cpu, Self.ownCPU - own)
    try load.set(window: 0)
    usleep(300_000)
    guard sample.done > 0 else { throw RelayUnavailable() }
    return Figures(
      approvalsPerSecond: Double(sample.done) / took,
      relayCPUMicroseconds: used / Double(sample.done) * 1e6,
      clientCPUMicroseconds: usedHere / Double(sample.done) * 1e6,
      p50Milliseconds: (sample.times.quantile(0.5) ?? .nan) * 1e3,
      p99Milliseconds: (sample.times.quantile(0.99) ?? .nan) * 1e3)
  }

  private static var ownCPU: Double { ProcessReading(getpid())?.cpuSeconds ?? 0 }

  private func show(_ results: [Result]) {
    let head = [
      "in flight", "program", "approvals/s", "to reference", "p50 ms", "p99 ms", "relay CPU µs",
      "client CPU µs",
    ]
    let rows = results.flatMap { result in
      [
        ("reference", result.reference), ("relay, plain", result.plain),
        ("relay, encrypted", result.encrypted),
      ].map { name, figures in
        Self.cells(result.window, name, figures, reference: result.reference)
      }
    }
    print(Table.render([head] + rows))
  }

  private static func cells(
    _ window: Int, _ name: String, _ figures: Figures, reference: Figures
  ) -> [String] {
    func text(_ format: String, _ value: Double) -> String { String(format: format, value) }
    // The C reference measures neither latencies nor the CPU time of its clients.
    func client(_ format: String, _ value: Double) -> String {
      value > 0 ? text(format, value) : ""
    }
    return [
      "\(window)", name, text("%.0f", figures.approvalsPerSecond),
      text("%.2f", figures.approvalsPerSecond / reference.approvalsPerSecond),
      client("%.2f", figures.p50Milliseconds), client("%.2f", figures.p99Milliseconds),
      text("%.1f", figures.relayCPUMicroseconds), client("%.1f", figures.clientCPUMicroseconds),
    ]
  }
}
