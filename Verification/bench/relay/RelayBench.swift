import ArgumentParser
import Foundation
import Processes

/// The relay alone, beside a bare reference in the same run.
struct RelayBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract:
      "Approvals a second of one relay, with and without encryption, beside a bare reference.",
    discussion: """
      An approval: question committed, decision committed, the child's device has it and has acknowledged.
      Build everything first: swift build -c release
      """)
  @Option(help: "How many families.") var families: UInt64 = 10_000
  @Option(help: "Approvals on the way at any time, with commas between them.")
  var windows = NumberList([1, 64, 1_024])
  @Option(help: "Seconds of each measurement.") var seconds = 3.0
  @Option(help: "How often each is measured, in turns; medians are shown.") var rounds = 3
  @Flag(help: "JSON instead of a table.") var json = false

  func validate() throws {
    guard families >= 1, rounds >= 1, seconds > 0 else {
      throw ValidationError("--families and --rounds are 1 or more, --seconds is above 0.")
    }
  }

  struct Figures: Codable {
    var approvalsPerSecond: Double
    var relayCPUMicroseconds: Double
    /// Of both sides, which share the machine with the relay.
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
    if !json { print("two relays make \(families) families each …") }
    let relays = try [true, false].map { isPlain in
      try RelayProcess(folder.appendingPathComponent(isPlain ? "plain" : "full"), isPlain: isPlain)
    }
    defer { relays.forEach { $0.stop() } }
    let loads = try relays.map { try Load(at: $0.address, families: families) }
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

  private func measure(_ load: Load, _ relay: RelayProcess, _ window: Int) throws -> Figures {
    try load.set(window: window)
    usleep(500_000)
    let (cpu, own, start) = (relay.cpu, Self.ownCPU, DispatchTime.now().uptimeNanoseconds)
    _ = load.take()
    usleep(UInt32(seconds * 1e6))
    let sample = load.take()
    let took = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    let (used, usedHere) = (relay.cpu - cpu, Self.ownCPU - own)
    try load.set(window: 0)
    usleep(300_000)
    guard sample.done > 0 else { throw RelayGone() }
    return Figures(
      approvalsPerSecond: Double(sample.done) / took,
      relayCPUMicroseconds: used / Double(sample.done) * 1e6,
      clientCPUMicroseconds: usedHere / Double(sample.done) * 1e6,
      p50Milliseconds: quantile(sample.times, 0.5) * 1e3,
      p99Milliseconds: quantile(sample.times, 0.99) * 1e3)
  }

  private static var ownCPU: Double { ProcessReading(getpid())?.cpuSeconds ?? 0 }

  private func show(_ results: [Result]) {
    print(
      "            approvals/s                  to the reference     encrypted, ms    relay's CPU, µs each          clients'"
    )
    print(
      "on the way  reference  plain  encrypted  plain  encrypted     p50      p99     reference  plain  encrypted  plain  encrypted"
    )
    for r in results {
      print(
        String(
          format:
            "%10d %10.0f %6.0f %10.0f %6.2f %10.2f %7.2f %8.2f %13.1f %6.1f %10.1f %6.1f %10.1f",
          r.window,
          r.reference.approvalsPerSecond, r.plain.approvalsPerSecond,
          r.encrypted.approvalsPerSecond,
          r.plain.approvalsPerSecond / r.reference.approvalsPerSecond,
          r.encrypted.approvalsPerSecond / r.reference.approvalsPerSecond,
          r.encrypted.p50Milliseconds, r.encrypted.p99Milliseconds,
          r.reference.relayCPUMicroseconds, r.plain.relayCPUMicroseconds,
          r.encrypted.relayCPUMicroseconds, r.plain.clientCPUMicroseconds,
          r.encrypted.clientCPUMicroseconds))
    }
  }
}
