import FamilyModel
import Foundation
import ProcessCluster
import Statistics
import Synchronization

/// Samples during a run whether the relay's background copies run, and reads from the relay's log
/// whether its shards worked.
final class RelayActivity: Sendable {
  static let interval = Duration.milliseconds(500)
  /// The commands of a run from which on shards and copies must have run.
  static let busy = 20_000
  /// The part of the requested commands below which a crowd counts as idle.
  static let idlePart = 0.02

  private let layout: Layout
  private let relay: SupervisedProcess
  /// Samples in which the database grew while the process ran. Only copies from the log write it.
  private let copies = Mutex(0)

  init(_ layout: Layout, _ relay: SupervisedProcess) {
    self.layout = layout
    self.relay = relay
  }

  /// Samples until the task is cancelled.
  func watch() async {
    var last: (pid: pid_t, size: Int)?
    let path = layout.relay.appendingPathComponent("relay.sqlite").path
    while !Task.isCancelled {
      let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
      if let pid = relay.pid, let size {
        if let last, last.pid == pid, last.size < size {
          copies.withLock { $0 += 1 }
        }
        last = (pid, size)
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// The times that the relay woke shard workers, in the processes that ended in order.
  static func workerWakeups(inLog text: String) -> Int {
    text.matches(of: /workerWakeups: ([0-9]+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
  }

  /// A finding if the crowd did almost nothing, because then its checkers judged nothing.
  static func idleness(commands: Int, rate: Double, seconds: Double) -> [String] {
    guard Double(commands) < idlePart * rate * seconds else { return [] }
    return ["the crowd was idle: \(commands) commands of about \(Int(rate * seconds))"]
  }

  /// The parts of the relay that did not run, although the crowd kept it busy, and an idle crowd.
  ///
  /// - Parameters:
  ///   - commands: The commands of the crowd. Few of them wake no shard and fill no log.
  ///   - rate: The requested commands per second.
  func findings(_ commands: Int, _ rate: Double, seconds: Double) throws -> [String] {
    try Self.findings(inLogOf: layout, copies: copies.withLock { $0 }, commands: commands)
      + Self.idleness(commands: commands, rate: rate, seconds: seconds)
  }

  static func findings(inLogOf layout: Layout, copies: Int, commands: Int) throws -> [String] {
    guard commands >= busy else { return [] }
    let log = try String(contentsOf: layout.log("relay"), encoding: .utf8)
    var findings: [String] = []
    if workerWakeups(inLog: log) == 0 { findings.append("the relay's shards never worked") }
    if copies == 0 { findings.append("the relay's background copies never ran") }
    return findings
  }
}

/// The commands of a crowd by the second in which their senders learned that they are durable.
struct CrowdRates: Sendable {
  /// Commands in each second after the workload's start.
  private(set) var seconds: [Int] = []
  /// Acknowledged commands.
  private(set) var total = 0

  /// Counts a command that was acknowledged at this second, which may precede the start.
  mutating func count(at second: Double) {
    total += 1
    guard second >= 0 else { return }
    while seconds.count <= Int(second) { seconds.append(0) }
    seconds[Int(second)] += 1
  }

  /// The mean of the first seconds, per second.
  func mean(first count: Double) -> Double {
    Double(seconds.prefix(Int(count)).reduce(0, +)) / max(1, count)
  }

  /// A finding if the median of the first seconds is below the floor.
  func slowness(below floor: Double, first count: Double) -> String? {
    let median = quantile(0.5, first: count) ?? 0
    guard median < floor else { return nil }
    return "the crowd was slow: \(Int(median)) commands in the median second, below \(Int(floor))"
  }

  /// The quantile of the first seconds, per second.
  func quantile(_ part: Double, first count: Double) -> Double? {
    seconds.prefix(Int(count)).map(Double.init).quantile(part)
  }
}
