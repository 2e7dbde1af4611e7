import ArgumentParser
import Foundation
import Processes
import Statistics
import TextTable

/// Measures the relay beyond its capacity.
struct Overload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Measure approvals per second at one, two and three times the capacity, and afterwards.",
    discussion: """
      Questions arrive at a fixed rate (open loop); a refused question backs off as agents do.
      Build everything first: swift build -c release
      """)
  @Option(help: "Number of families.") var families: UInt64 = 10_000
  @Option(help: "Seconds of each phase.") var seconds = 5.0
  @Option(help: "Repetitions of all phases.") var rounds = 3

  @Flag(help: "Send questions without the agents' question window; back off only after a refusal.")
  var impatient = false

  func validate() throws {
    guard families >= 1, rounds >= 1, seconds > 0 else {
      throw ValidationError("--families and --rounds are 1 or more, --seconds is above 0.")
    }
  }

  func run() async throws {
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    let relay = try MeasuredRelay(folder, isPlain: false)
    defer { relay.process.stop() }
    let load = try ApprovalLoad(
      at: relay.address, families: families, usesQuestionWindow: !impatient)
    let phases = [0.5, 1, 2, 3, 0.5]
    var rows: [[Row]] = phases.map { _ in [] }
    for _ in 0..<rounds {
      // The machine's speed drifts, so the capacity is measured again before each phase.
      for (index, factor) in phases.enumerated() {
        let peak = index == phases.count - 1 ? rows[index - 1].last!.peak : try capacity(of: load)
        _ = load.takeSample()
        let cpu = relay.process.cpuSeconds
        try load.set(window: 0, rate: peak * factor)
        usleep(UInt32(seconds * 1e6))
        let sample = load.takeSample()
        rows[index].append(
          Row(
            peak: peak, sample: sample, seconds: seconds,
            cores: (relay.process.cpuSeconds - cpu) / seconds))
      }
    }
    load.stop()
    print("Medians of \(rounds). The last phase follows the one before it without a pause.")
    print(Table.render([Self.head] + zip(phases, rows).map(Self.cells)))
  }

  private static let head = [
    "times", "capacity/s", "asked/s", "done/s", "of capacity", "refused/s", "unsent/s",
    "relay's cores", "p50 ms", "p99 ms",
  ]

  private static func cells(_ factor: Double, _ rows: [Row]) -> [String] {
    func median(_ format: String, _ value: (Row) -> Double) -> String {
      String(format: format, rows.map(value).quantile(0.5) ?? .nan)
    }
    return [
      String(format: "%.1f", factor), median("%.0f", \.peak), median("%.0f", \.asked),
      median("%.0f", \.done), median("%.2f", \.share), median("%.0f", \.refused),
      median("%.0f", \.unsent), median("%.2f", \.cores), median("%.1f", \.p50),
      median("%.1f", \.p99),
    ]
  }

  /// Approvals per second in a closed loop with 1,024 in flight.
  private func capacity(of load: ApprovalLoad) throws -> Double {
    try load.set(window: 1_024)
    // Wait until the previous phase's questions have ended.
    sleep(2)
    _ = load.takeSample()
    usleep(UInt32(seconds * 5e5))
    let peak = Double(load.takeSample().done) / seconds * 2
    try load.set(window: 0)
    sleep(1)
    guard peak > 0 else {
      throw ValidationError("No approval ended in half of --seconds: increase --seconds.")
    }
    return peak
  }

  /// The result of one phase.
  private struct Row {
    let peak, asked, done, share, refused, unsent, cores, p50, p99: Double

    init(peak: Double, sample: ApprovalLoad.Sample, seconds: Double, cores: Double) {
      self.peak = peak
      self.cores = cores
      asked = Double(sample.asked) / seconds
      done = Double(sample.done) / seconds
      share = done / peak
      refused = Double(sample.refused) / seconds
      unsent = Double(sample.unsent) / seconds
      p50 = (sample.times.quantile(0.5) ?? .nan) * 1e3
      p99 = (sample.times.quantile(0.99) ?? .nan) * 1e3
    }
  }
}
