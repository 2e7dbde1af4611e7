import ArgumentParser
import Foundation
import Processes
import Statistics
import TextTable
import ZeroMQ

/// Measures what the backup of a relay costs its devices.
struct BackupBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Measure approvals per second under full load with and without backups, in turns.",
    discussion: """
      With backups, `relayctl backup` runs again as soon as it ends. Its encryption shares the \
      machine with the relay. Build everything first: swift build -c release
      """)
  @Option(help: "Number of families that approve.") var families: UInt64 = 10_000
  @Option(help: "Number of further families in the store.") var stored = 20_000
  @Option(help: "Events in the log of each further family.") var events = 10
  @Option(help: "Approvals in flight.") var window = 1_024
  @Option(help: "Seconds of each phase.") var seconds = 10.0
  @Option(help: "Repetitions of both phases.") var rounds = 5
  @Option(help: "The folder for the store and its backups.") var directory = "/tmp"

  func validate() throws {
    guard families >= 1, stored >= 0, events >= 1, window >= 1, rounds >= 1, seconds > 0 else {
      throw ValidationError(
        "--stored is 0 or more, --seconds is above 0, and the other numbers are 1 or more.")
    }
  }

  func run() async throws {
    let run = try RunFolder("\(directory)/pr-backup-\(getpid())")
    defer { run.remove() }
    let relay = try filledRelay(in: run.url)
    defer { relay.process.stop() }
    let backups = try RunningBackups(of: run.url)
    let load = try ApprovalLoad(at: relay.address, families: families)
    try load.set(window: window)
    // The first approvals meet cold families.
    usleep(UInt32(seconds * 5e5))
    var (without, with): ([Phase], [Phase]) = ([], [])
    for round in 0..<rounds {
      // The order alternates, because the store and the machine's speed change during a run.
      for hasBackups in round.isMultiple(of: 2) ? [false, true] : [true, false] {
        let phase = try measure(load, relay, hasBackups ? backups : nil)
        if hasBackups { with.append(phase) } else { without.append(phase) }
      }
    }
    load.stop()
    guard (without + with).allSatisfy({ $0.rate > 0 }), backups.made > 0 else {
      throw ValidationError("No approval or no backup ended in a phase: increase --seconds.")
    }
    print("Medians of \(rounds), with \(window) approvals in flight.")
    print(Table.render(Self.rows(without, with)))
    print("\(backups.made) backups, the last one of \(backups.lastBytes >> 20) MB")
  }

  /// The columns, each with its format.
  private static let columns: [(name: String, format: String, value: @Sendable (Phase) -> Double)] =
    [
      ("approvals/s", "%.0f", { $0.rate }), ("p50 ms", "%.1f", { $0.p50 }),
      ("p99 ms", "%.1f", { $0.p99 }), ("relay's cores", "%.2f", { $0.cores }),
    ]

  /// The medians of both kinds of phases, and of the ratios within each round.
  static func rows(_ without: [Phase], _ with: [Phase]) -> [[String]] {
    func median(_ values: [Double], _ format: String) -> String {
      String(format: format, values.quantile(0.5) ?? .nan)
    }
    return [
      [""] + columns.map(\.name),
      ["without a backup"] + columns.map { median(without.map($0.value), $0.format) },
      ["with a backup"] + columns.map { median(with.map($0.value), $0.format) },
      ["with : without"]
        + columns.map { column in
          median(zip(with, without).map { column.value($0) / column.value($1) }, "%.2f")
        },
    ]
  }

  /// A relay whose store already has the further families.
  private func filledRelay(in folder: URL) throws -> MeasuredRelay {
    let first = try MeasuredRelay(folder, isPlain: false)
    first.process.stop()
    let store = HerdStore(first.address, keys: [first.address.child], events: events)
    try store.write(
      families: stored, from: Int(families) + 1, to: folder.appendingPathComponent("relay.sqlite"))
    return try MeasuredRelay(folder, isPlain: false)
  }

  private func measure(_ load: ApprovalLoad, _ relay: MeasuredRelay, _ backups: RunningBackups?)
    throws -> Phase
  {
    try backups?.begin()
    _ = load.takeSample()
    let (start, cpu) = (MonotonicInstant.now, relay.process.cpuSeconds)
    usleep(UInt32(seconds * 1e6))
    let sample = load.takeSample()
    let elapsed = (MonotonicInstant.now - start).seconds
    let used = relay.process.cpuSeconds - cpu
    try backups?.end()
    return Phase(sample, seconds: elapsed, cpu: used)
  }

  /// The result of one phase.
  struct Phase: Sendable {
    let rate, p50, p99, cores: Double

    init(_ sample: ApprovalLoad.Sample, seconds: Double, cpu: Double) {
      rate = Double(sample.done) / seconds
      p50 = (sample.times.quantile(0.5) ?? .nan) * 1e3
      p99 = (sample.times.quantile(0.99) ?? .nan) * 1e3
      cores = cpu / seconds
    }
  }
}
