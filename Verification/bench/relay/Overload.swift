import ArgumentParser
import Foundation
import Processes

/// What becomes of the relay past its capacity.
struct Overload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Approvals a second at one, two and three times the capacity, and after it.",
    discussion: """
      Questions come at a fixed rate, whatever becomes of those before them; who is refused waits as agents do.
      Build everything first: swift build -c release
      """)
  @Option(help: "How many families.") var families: UInt64 = 10_000
  @Option(help: "Seconds of each phase.") var seconds = 5.0
  @Option(help: "How often all phases are run.") var rounds = 3

  @Flag(help: "Children ask as often as they like, and wait only when they are refused.")
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
    let relay = try RelayProcess(folder, isPlain: false)
    defer { relay.stop() }
    let load = try Load(at: relay.address, families: families, isPatient: !impatient)
    let phases = [0.5, 1, 2, 3, 0.5]
    var rows: [[Row]] = phases.map { _ in [] }
    for _ in 0..<rounds {
      // What the machine can do changes from minute to minute: each phase has its own measure beside it.
      for (index, factor) in phases.enumerated() {
        let peak = index == phases.count - 1 ? rows[index - 1].last!.peak : try capacity(of: load)
        _ = load.take()
        let cpu = relay.cpu
        try load.set(window: 0, rate: peak * factor)
        usleep(UInt32(seconds * 1e6))
        let sample = load.take()
        rows[index].append(
          Row(peak: peak, sample: sample, seconds: seconds, cores: (relay.cpu - cpu) / seconds))
      }
    }
    print("Medians of \(rounds); the last follows the one before it at once.")
    print(
      "times   capacity/s   asked/s   done/s   of capacity   refused/s   unsent/s   relay's cores   p50 ms    p99 ms"
    )
    for (factor, rows) in zip(phases, rows) {
      let values = [
        \Row.peak, \.asked, \.done, \.share, \.refused, \.unsent, \.cores, \.p50, \.p99,
      ]
      .map { path in quantile(rows.map { $0[keyPath: path] }, 0.5) }
      print(
        String(format: "%5.1f", factor)
          + zip(
            [
              "%13.0f", "%10.0f", "%9.0f", "%14.2f", "%12.0f", "%11.0f", "%16.2f", "%9.1f",
              "%10.1f",
            ], values
          )
          .map { String(format: $0, $1) }.joined())
    }
    load.stop()
  }

  /// Approvals a second with 1,024 on the way.
  private func capacity(of load: Load) throws -> Double {
    try load.set(window: 1_024)
    // What is left of the phase before ends first.
    sleep(2)
    _ = load.take()
    usleep(UInt32(seconds * 5e5))
    let peak = Double(load.take().done) / seconds * 2
    try load.set(window: 0)
    sleep(1)
    guard peak > 0 else {
      throw ValidationError("Nothing was done in half of --seconds: give it more of them.")
    }
    return peak
  }

  /// One phase.
  private struct Row {
    let peak, asked, done, share, refused, unsent, cores, p50, p99: Double

    init(peak: Double, sample: Load.Sample, seconds: Double, cores: Double) {
      self.peak = peak
      self.cores = cores
      asked = Double(sample.asked) / seconds
      done = Double(sample.done) / seconds
      share = done / peak
      refused = Double(sample.refused) / seconds
      unsent = Double(sample.unsent) / seconds
      p50 = quantile(sample.times, 0.5) * 1e3
      p99 = quantile(sample.times, 0.99) * 1e3
    }
  }
}
