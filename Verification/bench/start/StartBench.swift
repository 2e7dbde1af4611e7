import ArgumentParser
import DeviceTurn
import FamilyCore
import FamilyModel
import Foundation
import Processes
import RelayStore
import SQLiteStore
import Statistics
import TextTable

/// Measures the start of devices with a long history from their snapshots.
struct StartBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Measure the start of a child's and of a guardian's device with a long history.",
    discussion: """
      The family has two devices. A quarter of the events are questions, a quarter answers, and the rest
      texts; eight questions stay open. Each start is a process of its own, from before it opens the
      store until its machine is ready. Devices start in turns.
      Build everything first: swift build -c release
      """)
  @Option(help: "Events of the family.") var events = 100_000
  @Option(help: "Further events after the snapshot. From 320 on, each start makes a new snapshot.")
  var later = 0
  @Option(help: "Starts of each device; medians are shown.") var starts = 9
  @Option(help: "The folder for the store.") var directory = "/tmp"
  @Flag(help: "Print JSON instead of a table.") var json = false

  /// Changes of one transaction while the store is written.
  private static let changesPerCommit = 10_000

  func validate() throws {
    guard events > Limits.snapshotInterval + Limits.snapshotMargin + StartFamily.openQuestions,
      starts >= 1
    else { throw ValidationError("--events is 329 or more, --starts is 1 or more.") }
  }

  /// The medians of one device.
  struct Result: Codable {
    var device: String
    /// The events that the device has stored.
    var events: Int
    /// The events that each start verified.
    var later: Int
    /// Bytes of the stored snapshot.
    var snapshotBytes: Int
    var milliseconds: Double
    var fastestMilliseconds: Double
    var slowestMilliseconds: Double
    /// Growth of the resident memory during the start.
    var residentBytes: Int
    /// The largest growth of the resident memory at any time.
    var peakBytes: Int
    /// The same after the settled history has moved to its file.
    var settledBytes: Int
    /// Milliseconds of the move, after the start.
    var moveMilliseconds: Double
  }

  func run() throws {
    let run = try RunFolder("\(directory)/pr-bench-\(getpid())")
    defer { run.remove() }
    let file = run.url.appendingPathComponent("agent.sqlite").path
    if !json { print("building a family with \(events) events …") }
    var results = try build(file)
    var figures = [[StartFigures]](repeating: [], count: results.count)
    for _ in 0..<starts {
      for (index, device) in StartFamily.devices.enumerated() {
        figures[index].append(try start(device, file))
      }
    }
    for index in results.indices { results[index].set(figures[index]) }
    if json {
      print(String(decoding: try JSONEncoder().encode(results), as: UTF8.self))
    } else {
      show(results)
    }
  }

  /// Writes the devices' records into one store, as in an agent that hosts both.
  ///
  /// - Returns: The results without measurements.
  private func build(_ file: String) throws -> [Result] {
    var family = StartFamily(events: events)
    let snapshots = try StartFamily.devices.map { try family.snapshot(of: $0) }
    family.addRounds(until: family.machines.log.count + later)
    let store = try SQLiteAgentStore(path: file)
    defer { store.close() }
    return try zip(StartFamily.devices, snapshots).map { device, snapshot in
      let records = family.records(of: device) + [snapshot]
      let prefix = StartFamily.address(device).recordKeyPrefix
      for first in stride(from: 0, to: records.count, by: Self.changesPerCommit) {
        let part = records[first..<min(records.count, first + Self.changesPerCommit)]
        try store.apply(part.map { Change(.put($0), under: prefix) })
      }
      var result = Result(
        device: device == StartFamily.child ? "child" : "guardian", events: 0, later: 0,
        snapshotBytes: 0, milliseconds: 0, fastestMilliseconds: 0, slowestMilliseconds: 0,
        residentBytes: 0, peakBytes: 0, settledBytes: 0, moveMilliseconds: 0)
      for record in records {
        if case .event = record { result.events += 1 }
        if case .snapshot(let bytes) = record { result.snapshotBytes = bytes.count }
      }
      return result
    }
  }

  private func start(_ device: UInt32, _ file: String) throws -> StartFigures {
    let process = Process()
    process.executableURL = try Program("bench").file
    process.arguments = ["device-start", "--store", file, "--device", "\(device)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier)
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(StartFigures.self, from: bytes)
  }

  private func show(_ results: [Result]) {
    let title = [
      "device", "events", "verified", "snapshot, KB", "start, ms", "fastest", "slowest",
      "memory, MB", "peak, MB", "moved in, ms", "then, MB",
    ]
    print(
      Table.render(
        [title]
          + results.map { result in
            [
              result.device, "\(result.events)", "\(result.later)",
              "\(result.snapshotBytes / 1_000)", text(result.milliseconds),
              text(result.fastestMilliseconds), text(result.slowestMilliseconds),
              text(Double(result.residentBytes) / 1e6), text(Double(result.peakBytes) / 1e6),
              text(result.moveMilliseconds),
              text(Double(result.settledBytes) / 1e6),
            ]
          }))
  }

  private func text(_ value: Double) -> String { String(format: "%.1f", value) }
}

extension StartBench.Result {
  fileprivate mutating func set(_ figures: [StartFigures]) {
    let times = figures.map(\.milliseconds)
    milliseconds = times.quantile(0.5) ?? 0
    fastestMilliseconds = times.min() ?? 0
    slowestMilliseconds = times.max() ?? 0
    residentBytes = Int(figures.map { Double($0.bytes) }.quantile(0.5) ?? 0)
    peakBytes = Int(figures.map { Double($0.peakBytes) }.quantile(0.5) ?? 0)
    settledBytes = Int(figures.map { Double($0.settledBytes) }.quantile(0.5) ?? 0)
    moveMilliseconds = figures.map(\.moveMilliseconds).quantile(0.5) ?? 0
    later = figures.map(\.later).max() ?? 0
  }
}
