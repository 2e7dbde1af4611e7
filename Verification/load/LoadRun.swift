import Credentials
import FamilyCore
import FamilyModel
import Foundation
import Histogram
import LoadFamilies
import Processes
import RelayClient
import Synchronization
import ZeroMQ

/// A relay and the workers that load it, from the set-up to the checks.
actor LoadRun {
  /// Seconds from a run order to its first arrival.
  static let lead = 0.3
  /// Seconds without a finished question after which the rest of a run is given up. Longer than a
  /// device's longest backoff.
  static let stallTimeout = 90.0
  /// Seconds after a run's last arrival when the rest is given up in any case.
  static let drainTimeout = 1_800.0
  /// Minimum seconds for the set-up; 10 s for each thousand families are added.
  static let setUpTimeout = 330.0

  /// The relay's CPU use, in cores, below which the set-up ends. Devices announce their presence
  /// every 15 s, so a relay with many devices is never fully idle.
  static let idleCores = 0.15
  /// Seconds after which the set-up ends in any case.
  static let idleTimeout = 60.0

  /// The approximate number of intervals recorded for one run. An interval lasts at least one
  /// second.
  static let moments = 1_200.0

  /// The number of families that are signed in one batch.
  static let foundingBatch: UInt64 = 4_000
  typealias Founding = [(family: FamilyID, command: SignedCommand)]

  let folder: URL
  let settings: Results.Settings
  let progress: Display
  var relay: RelayProcess?
  var workers: [WorkerProcess] = []
  var readers: [Task<Void, Never>] = []
  var sampler: ProcessSampler?
  var results: Results

  // The latest reports by worker.
  var ready: [Int: Int] = [:]
  var memoryGrowth: [Int: Int] = [:]
  var unfinished: [Int: Int] = [:]
  var checked: [Int: CheckResult] = [:]
  var counts: [Int: SimulatedUsers.Counts] = [:]
  var underway: [Int: Int] = [:]
  var lastFinished = MonotonicInstant.machineStart
  var failure: String?
  var total = Tally()
  var step = Tally()
  var moment = Tally()
  var begin: MonotonicInstant?
  /// When the current interval began.
  var momentStart = MonotonicInstant.machineStart
  var runs: UInt64 = 0

  init(_ settings: Results.Settings, folder: URL, progress: Display) {
    self.settings = settings
    self.folder = folder
    self.progress = progress
    results = Results(machine: .init(), settings: settings)
  }

  var relayFolder: URL { folder.appendingPathComponent("relay") }
  var factory: FamilyFactory {
    FamilyFactory(
      seed: settings.seed, guardians: settings.guardians,
      perConnection: settings.familiesPerConnection)
  }

  // MARK: results

  /// Stops the relay, lets the workers check the stored log, and stops them.
  func finish() async throws -> Results {
    relay?.stop()
    relay = nil
    let store = relayFolder.appendingPathComponent("relay.sqlite").path
    // One worker after another: a store has one user.
    for (number, worker) in workers.enumerated() {
      worker.order(.check(store: store))
      try await wait("worker \(worker.index + 1) to check", 600) {
        progress.update("checking the results: worker \(number + 1) of \(workers.count)")
        return checked[worker.index] != nil
      }
    }
    for worker in workers { results.checks += checked[worker.index]! }
    stop()
    results.counts = counts.values.reduce(into: SimulatedUsers.Counts()) { $0 += $1 }
    results.processes = sampler?.series ?? []
    results.measures = Measure.allCases.map {
      .init(name: $0.rawValue, times: Percentiles(total.histogram($0)))
    }
    results.kinds = Kind.allCases.filter { $0 != .off }.map {
      .init(name: $0.rawValue, times: Percentiles(total.histogram(.approval, $0)))
    }
    let approvals = total.histogram(.approval)
    results.distribution = approvals.percentiles(ticksPerHalfDistance: 5).map {
      .init(percentile: $0.percentile, milliseconds: Double($0.value) / 1_000)
    }
    progress.clear()
    return results
  }

  /// Stops all processes.
  func stop() {
    for reader in readers { reader.cancel() }
    for worker in workers { worker.stop() }
    workers = []
    relay?.stop()
    relay = nil
  }

  // MARK: reports

  func receive(_ report: WorkerReport, from worker: Int) {
    switch report {
    case .hosting(let count, _): ready[worker] = count
    case .hosted(let before, let after): memoryGrowth[worker] = after - before
    case .second(let second):
      total.add(second)
      step.add(second)
      moment.add(second)
      counts[worker] = second.counts
      underway[worker] = second.underway
      lastFinished = max(lastFinished, second.lastFinished)
    case .ran(let count): unfinished[worker] = count
    case .checked(let result): checked[worker] = result
    case .failed(let reason): failure = failure ?? reason
    }
  }

  /// Polls the condition every 20 ms until it is true.
  ///
  /// - Throws: ``LoadError`` after a timeout, or if a worker or the relay has failed.
  func wait(_ goal: String, _ seconds: Double, _ condition: () throws -> Bool) async throws {
    let end = MonotonicInstant.now + .seconds(seconds)
    while try !condition() {
      if let failure {
        throw LoadError("\(failure). The results were not checked. --directory keeps the files.")
      }
      guard relay?.isRunning ?? true else {
        throw LoadError(
          "The relay ended: see its message above. The results were not checked.")
      }
      guard MonotonicInstant.now < end else {
        throw LoadError(
          "Timed out after \(seconds.short) s while waiting for \(goal). Use fewer --families or a lower --rate."
        )
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// A load that cannot continue, with a remedy.
struct LoadError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
