import Foundation

/// What a load found. Times are milliseconds, unless they say otherwise.
struct Results: Codable {
  struct Machine: Codable {
    var cores: Int
    var processor: String
    var memoryBytes: UInt64
    var kernel: String
  }
  struct Settings: Codable {
    var families: UInt64
    var guardians: Int
    var rate: Double
    var seconds: Double
    var workers: Int
    var seed: UInt64
    var mix: Mix
    var objective: Objective?
    var familiesPerConnection: UInt64
    var familiesPerHost: UInt64
    /// Whole histories were checked of every n-th family.
    var checkedEvery: UInt64
  }
  struct SetUp: Codable {
    /// Until the relay had all families on disk.
    var foundingSeconds = 0.0
    /// From then on, until each device had its family.
    var connectingSeconds = 0.0
    /// From then on, until the relay rested.
    var settlingSeconds = 0.0
    /// What the worker processes grew by while they took the families in, for each family.
    var workerBytesPerFamily = 0.0
    /// What the relay occupies for each family.
    var relayBytesPerFamily = 0.0

    var seconds: Double { foundingSeconds + connectingSeconds + settlingSeconds }
  }
  /// One rate of arrivals.
  struct Step: Codable {
    var offered: Double
    /// Approvals a second, until the last of them was over.
    var achieved: Double
    var approvals: Percentiles
    var unfinished: Int
    /// Whether the objective held.
    var holds: Bool?
    /// Cores that were busy: the relay's, the workers'.
    var relayCores: Double
    var workerCores: Double

    /// Part of the machine that is busy when there is no more to be had.
    private static let all = 0.8

    /// Whether the rate was not held, and the devices' processes had most of a machine that had no more.
    func isLimitedByDevices(of machine: Machine) -> Bool {
      achieved < 0.95 * offered && workerCores > relayCores
        && workerCores + relayCores > Self.all * Double(machine.cores)
    }
  }
  /// One second.
  struct Moment: Codable {
    /// Since the first arrival.
    var second: Double
    var finished: UInt64
    /// Of these, those that no device off the network held up: the times are theirs.
    var measured: UInt64
    var underway: Int
    var p50: Double
    var p99: Double
    var max: Double
  }
  struct Row: Codable {
    var name: String
    var times: Percentiles
  }
  /// A point of the distribution: this part of the approvals took at most so long.
  struct Point: Codable {
    var percentile: Double
    var milliseconds: Double
  }
  /// One process, second by second.
  struct Series: Codable {
    struct Sample: Codable {
      var second: Double
      var cores: Double
      var bytes: Int
    }
    var name: String
    var samples: [Sample] = []
  }

  var machine: Machine
  var settings: Settings
  var setUp = SetUp()
  var steps: [Step] = []
  var moments: [Moment] = []
  var measures: [Row] = []
  var kinds: [Row] = []
  var distribution: [Point] = []
  var processes: [Series] = []
  var counts = SimulatedUsers.Counts()
  var unfinished = 0
  var checks = CheckResult()
  /// The highest rate that held the objective, where it was looked for.
  var highestRate: Double?

  /// Whether something went wrong, was lost, or is not right.
  var isWrong: Bool { !wrongs.isEmpty }
  /// Whether an objective was given that the system does not hold.
  var missesObjective: Bool {
    highestRate.map { $0 == 0 } ?? steps.contains { $0.holds == false }
  }

  /// Why the run fails; empty: it does not.
  var failures: [String] {
    guard missesObjective, let objective = settings.objective else { return wrongs }
    return wrongs + [
      highestRate == nil
        ? "The objective was not held: \(objective.text)."
        : "No rate held the objective: \(objective.text)."
    ]
  }

  private var wrongs: [String] {
    var wrongs: [String] = []
    if !checks.isRight { wrongs.append("What happened is not right: see the checks.") }
    if counts.wrongAnswers > 0 {
      wrongs.append("\(counts.wrongAnswers) apps were told another answer than was given.")
    }
    if counts.refused > 0 { wrongs.append("\(counts.refused) commands were refused.") }
    if checks.notKept > 0 {
      wrongs.append("\(checks.notKept) acknowledgements were too many to keep, and not checked.")
    }
    // A ramp goes past what the system can on purpose.
    if unfinished > 0, highestRate == nil {
      wrongs.append("\(unfinished) questions were still under way when the time was over.")
    }
    return wrongs
  }
}

extension Results.Machine {
  /// This machine.
  init() {
    cores = ProcessInfo.processInfo.activeProcessorCount
    memoryBytes = ProcessInfo.processInfo.physicalMemory
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    processor =
      info.split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    let version = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    kernel = version.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
