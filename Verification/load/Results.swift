import Foundation

/// The results of a load. Times are in milliseconds unless the name states another unit.
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
    /// Every n-th family was checked with its complete history.
    var checkedEvery: UInt64
  }
  struct SetUp: Codable {
    /// Seconds until the relay had committed all families.
    var foundingSeconds = 0.0
    /// Seconds from then until all devices were attached.
    var connectingSeconds = 0.0
    /// Seconds from then until the relay was idle.
    var settlingSeconds = 0.0
    /// The growth of the workers' memory during set-up, per family.
    var workerBytesPerFamily = 0.0
    /// The growth of the relay's memory during set-up, per family.
    var relayBytesPerFamily = 0.0

    var seconds: Double { foundingSeconds + connectingSeconds + settlingSeconds }
  }
  /// The results at one rate of arrivals.
  struct Step: Codable {
    var offered: Double
    /// Finished approvals per second, up to the last one.
    var achieved: Double
    var approvals: Percentiles
    var unfinished: Int
    /// Whether the objective held; `nil` without an objective.
    var holds: Bool?
    /// The mean number of busy cores of the relay and of the workers.
    var relayCores: Double
    var workerCores: Double

    /// The utilization at which the machine counts as saturated.
    private static let saturation = 0.8

    /// Whether the rate was missed on a saturated machine on which the workers used most of the
    /// CPU.
    func isLimitedByDevices(of machine: Machine) -> Bool {
      achieved < 0.95 * offered && workerCores > relayCores
        && workerCores + relayCores > Self.saturation * Double(machine.cores)
    }
  }
  /// The results of one interval, usually one second.
  struct Moment: Codable {
    /// Seconds since the first arrival.
    var second: Double
    var finished: UInt64
    /// The number of finished approvals without offline devices. The latencies cover only these.
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
  /// A point of the latency distribution.
  struct Point: Codable {
    var percentile: Double
    var milliseconds: Double
  }
  /// The samples of one process over time.
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
  /// The highest rate that held the objective; `nil` without a ramp.
  var highestRate: Double?

  /// Whether an error occurred, an event was lost or a check failed.
  var hasErrors: Bool { !errors.isEmpty }
  /// Whether the system missed the given objective.
  var missesObjective: Bool {
    highestRate.map { $0 == 0 } ?? steps.contains { $0.holds == false }
  }

  /// The reasons for failure; empty for a successful run.
  var failures: [String] {
    guard missesObjective, let objective = settings.objective else { return errors }
    return errors + [
      highestRate == nil
        ? "The objective was not held: \(objective.text)."
        : "No rate held the objective: \(objective.text)."
    ]
  }

  private var errors: [String] {
    var errors: [String] = []
    if !checks.isCorrect { errors.append("A check failed: see the checks.") }
    if counts.wrongAnswers > 0 {
      errors.append(
        "\(counts.wrongAnswers) apps received a different answer than the guardian gave.")
    }
    if counts.refused > 0 { errors.append("\(counts.refused) commands were refused.") }
    if checks.droppedAcknowledgements > 0 {
      errors.append(
        "\(checks.droppedAcknowledgements) acknowledgements were too many to keep, and not checked."
      )
    }
    // A ramp deliberately exceeds the capacity.
    if unfinished > 0, highestRate == nil {
      errors.append("\(unfinished) questions did not finish in time.")
    }
    return errors
  }
}

extension Results.Machine {
  /// Describes this machine.
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
