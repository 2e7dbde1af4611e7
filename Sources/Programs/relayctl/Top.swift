import ArgumentParser
import Foundation
import ProgramOptions
import RelayOperation
import TextTable
import Wording

/// The live state of a relay.
struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a running relay: rates, queues, latencies, files.",
    discussion:
      "Run this as the relay's user, on the relay's machine. With --once the exit code is 0 "
      + "only if the relay works: 1 if it hangs or has failed, 2 if it does not answer.")
  @Option(help: "The relay's folder.") var directory: String
  @Option(help: "Seconds between two refreshes.") var interval = 1.0
  @Flag(help: "Print once and exit.") var once = false
  @Flag(help: "Print each refresh as a line of JSON.") var json = false

  func validate() throws {
    guard interval >= 0.1 else { throw ValidationError("--interval must be 0.1 or more.") }
  }

  func run() async throws {
    let folder = URL(fileURLWithPath: directory)
    var earlier = try OperatorClient(directory: folder).statistics()
    if json { try Self.print(earlier) }
    if json, once { return try Self.check(earlier) }
    let isTerminal = isatty(STDOUT_FILENO) == 1
    repeat {
      try await Task.sleep(for: .seconds(interval))
      let now = try OperatorClient(directory: folder).statistics()
      if json {
        try Self.print(now)
      } else {
        let clear = isTerminal && !once ? "\u{1B}[H\u{1B}[2J" : ""
        Swift.print(clear + TopTable(now, since: earlier).text)
      }
      earlier = now
    } while !once
    try Self.check(earlier)
  }

  /// - Throws: An exit code if the relay hangs or has failed.
  private static func check(_ statistics: RelayStatistics) throws {
    guard statistics.isAlive else { throw ExitCode(ExitStatus.failure.rawValue) }
  }

  private static func print(_ statistics: RelayStatistics) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    Swift.print(String(decoding: try encoder.encode(statistics), as: UTF8.self))
  }
}

/// The table of `relayctl top`.
struct TopTable {
  private let now: RelayStatistics
  private let earlier: RelayStatistics
  /// Seconds between the two.
  private let seconds: Double

  /// - Parameter earlier: Statistics of the same relay, taken before `now`.
  init(_ now: RelayStatistics, since earlier: RelayStatistics) {
    // A relay that was restarted meanwhile counts from zero.
    let isSame = now.times.uptime >= earlier.times.uptime
    self.now = now
    self.earlier = isSame ? earlier : RelayStatistics()
    seconds = max(0.001, isSame ? now.times.uptime - earlier.times.uptime : now.times.uptime)
  }

  var text: String {
    [state, Table.render(rates), Table.render(latencies), Table.render(levels)]
      .joined(separator: "\n\n")
  }

  private var state: String {
    let working =
      now.levels.isFull == true
      ? "DISK FULL: commands are refused"
      : now.levels.memoryLevel ?? 0 > 0
        ? "short of memory" : now.levels.isShedding ? "overloaded" : "running"
    let word = now.failure.map { "FAILED: \($0)" } ?? (now.isAlive ? working : "HANGS")
    return "relay \(now.version), \(word), up \(Wording.time(Int(now.times.uptime)))"
  }

  private var rates: [[String]] {
    let names = [
      ("requests", "requests"), ("events", "events"), ("commits", "commits"),
      ("questions shed", "shedQuestions"), ("events republished", "republished"),
      ("families loaded", "familyLoads"), ("old results looked up", "resultLookups"),
      ("damaged families", "damagedFamilies"),
      ("replies dropped", "undeliveredReplies"), ("broadcasts dropped", "droppedBroadcasts"),
      ("connections closed", "closedConnections"),
    ]
    return [["", "per second", "since the start"]]
      + names.map { title, name in
        let total = now.counters[name] ?? 0
        let rate = Double(total - (earlier.counters[name] ?? 0)) / seconds
        return [title, Self.number(rate), "\(total)"]
      }
      + now.refusals.sorted { $0.key < $1.key }.map { problem, total in
        let rate = Double(total - (earlier.refusals[problem] ?? 0)) / seconds
        return ["refused: problem \(problem)", Self.number(rate), "\(total)"]
      }
  }

  private var latencies: [[String]] {
    func row(_ title: String, _ all: DurationHistogram, _ before: DurationHistogram) -> [String] {
      let recent = all.since(before)
      return [title, "\(recent.count)"]
        + [0.5, 0.99, 1].map { recent.quantile($0).map { "≤ " + Self.milliseconds($0) } ?? "–" }
    }
    return [
      ["", "count", "p50", "p99", "max"], row("commits", now.commits, earlier.commits),
      row("reads", now.reads, earlier.reads),
    ]
  }

  private var levels: [[String]] {
    let process = now.process
    let cpu = (process.cpuSeconds - earlier.process.cpuSeconds) / seconds
    return [
      [
        "in flight", "\(now.levels.requestsInFlight) requests",
        Self.bytes(now.levels.bytesInFlight),
      ],
      [
        "connections", "\(now.levels.requestConnections) for requests",
        "\(now.levels.broadcastConnections) for broadcasts",
      ],
      ["families", "\(now.levels.families) in memory", ""],
      ["store", Self.bytes(now.store.database), "log \(Self.bytes(now.store.log))"],
      ["disk", "\(Self.bytes(now.store.free)) free", ""],
      [
        "process", "\(Self.bytes(process.residentBytes)) resident",
        "\(Self.number(cpu * 100)) % of a core",
      ],
      ["files", "\(process.openFiles) open", "limit \(process.maximumFiles)"],
    ]
  }

  // MARK: units

  private static func number(_ value: Double) -> String {
    value == 0 ? "0" : String(format: value < 10 ? "%.1f" : "%.0f", value)
  }

  private static func milliseconds(_ seconds: Double) -> String {
    seconds.isFinite ? String(format: "%g ms", seconds * 1_000) : "more than 10 s"
  }

  private static func bytes(_ count: Int) -> String {
    let units = ["B", "KB", "MB", "GB", "TB"]
    var value = Double(count)
    var unit = 0
    while value >= 1_000, unit < units.count - 1 {
      value /= 1_000
      unit += 1
    }
    return unit == 0
      ? "\(count) B" : String(format: value < 10 ? "%.1f %@" : "%.0f %@", value, units[unit])
  }
}
