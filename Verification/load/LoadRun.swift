import Credentials
import FamilyCore
import FamilyModel
import Foundation
import Histogram
import Processes
import RelayClient
import Synchronization
import ZeroMQ

/// A relay and the workers that load it, from the set-up to the checks.
actor LoadRun {
  /// Seconds between the order of a run and its first arrival.
  private static let lead = 0.3
  /// Seconds after a run in which nothing is finished, when what is still under way is given up: more than the
  /// longest wait of a device that was told to come again. And seconds after which it is in any case.
  private static let patience = 90.0
  private static let drain = 1_800.0
  /// Seconds that set-up may take for each thousand families, and at least.
  private static let setUpLimit = 120.0

  /// Cores of the relay below which the set-up is over, and seconds after which it is in any case: devices
  /// say every 15 seconds that they are there, and many of them are never silent.
  private static let idleCores = 0.15
  private static let settleLimit = 60.0

  /// Moments of one run that are kept, about: seconds, or as long as a soak needs.
  private static let moments = 1_200.0

  /// Families that are signed together.
  private static let founding: UInt64 = 4_000
  private typealias Founding = [(family: FamilyID, command: SignedCommand)]

  private let folder: URL
  private let settings: Results.Settings
  private let progress: Display
  private var relay: RelayProcess?
  private var workers: [WorkerProcess] = []
  private var readers: [Task<Void, Never>] = []
  private var sampler: ProcessSampler?
  private var results: Results

  // What the workers tell.
  private var ready: [Int: Int] = [:]
  private var grown: [Int: Int] = [:]
  private var ran: [Int: Int] = [:]
  private var checked: [Int: CheckResult] = [:]
  private var counts: [Int: SimulatedUsers.Counts] = [:]
  private var underway: [Int: Int] = [:]
  private var lastFinished: UInt64 = 0
  private var failure: String?
  private var whole = Tally()
  private var step = Tally()
  private var moment = Tally()
  private var begin: UInt64 = 0
  /// When the last moment ended.
  private var noted: UInt64 = 0
  private var runs: UInt64 = 0

  init(_ settings: Results.Settings, folder: URL, progress: Display) {
    self.settings = settings
    self.folder = folder
    self.progress = progress
    results = Results(machine: .init(), settings: settings)
  }

  private var relayFolder: URL { folder.appendingPathComponent("relay") }
  private var households: FamilyFactory {
    FamilyFactory(
      seed: settings.seed, guardians: settings.guardians,
      perConnection: settings.familiesPerConnection)
  }

  // MARK: set-up

  /// Starts the relay, makes the families, and has the workers take them in.
  func setUp() async throws {
    _ = try RelayKeys.create(in: relayFolder)
    let relay = try RelayProcess(relayFolder, maxFamilies: Int(settings.families) + 1)
    self.relay = relay
    var start = Monotonic.now()
    let before = ProcessReading(relay.pid)?.residentBytes ?? 0
    try found()
    results.setUp.foundingSeconds = Double(Monotonic.now() - start) / 1e9
    start = Monotonic.now()
    try await host(relay.pid)
    results.setUp.connectingSeconds = Double(Monotonic.now() - start) / 1e9
    start = Monotonic.now()
    try await settle(relay)
    results.setUp.settlingSeconds = Double(Monotonic.now() - start) / 1e9
    let after = ProcessReading(relay.pid)?.residentBytes ?? 0
    let families = Double(settings.families)
    results.setUp.relayBytesPerFamily = Double(after - before) / families
    results.setUp.workerBytesPerFamily = Double(grown.values.reduce(0, +)) / families
    let names =
      [(relay.pid, "relay")] + workers.map { ($0.pid, "worker \($0.index + 1)") }
      + [(getpid(), "load")]
    sampler = ProcessSampler(names)
    progress.line(
      "set up \(settings.families) families in \(results.setUp.seconds.short) s"
    )
  }

  private func found() throws {
    let credential = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: relayFolder))
    var administrator = try Administrator(credential)
    // Each family is signed by its organizer: work for all cores.
    let cores = UInt64(results.machine.cores)
    for first in stride(from: 1, through: settings.families, by: Int(Self.founding)) {
      let last = min(first + Self.founding - 1, settings.families)
      let size = (last - first) / cores + 1
      let parts = Mutex<[Int: Result<Founding, any Error>]>([:])
      DispatchQueue.concurrentPerform(iterations: Int(cores)) { [households] core in
        let from = first + UInt64(core) * size
        guard from <= last else { return }
        let part = Result {
          try households.founding(from...min(from + size - 1, last), relay: credential)
        }
        parts.withLock { $0[core] = part }
      }
      let commands = try parts.withLock { $0 }.sorted { $0.key < $1.key }
        .flatMap { try $0.value.get() }
      try administrator.sendAll(commands) { done in
        progress.update("founding families: \(Int(first) - 1 + done) of \(settings.families)")
      }
    }
  }

  private func host(_ relay: pid_t) async throws {
    let count = UInt64(settings.workers)
    // Whole connections: families that share a key live in one process.
    let blocks =
      (settings.families + settings.familiesPerConnection - 1)
      / settings.familiesPerConnection
    for index in 0..<count {
      let (from, to) = (blocks * index / count, blocks * (index + 1) / count)
      guard from < to else { continue }
      let last = min(to * settings.familiesPerConnection, settings.families)
      let families = (from * settings.familiesPerConnection + 1)...last
      let worker = try WorkerProcess(Int(index))
      ChildProcesses.add(worker.pid)
      workers.append(worker)
      readers.append(Task { for await note in worker.notes { self.take(note, worker.index) } })
      worker.order(
        .host(
          Hosting(
            directory: folder.appendingPathComponent("worker-\(index + 1)").path,
            relay: relayFolder.path, relayPID: relay, families: families, households: households,
            perHost: settings.familiesPerHost, every: settings.checkedEvery)))
    }
    let devices = Int(settings.families) * households.devices.count
    let limit = Self.setUpLimit + Double(settings.families) / 100
    try await wait("the devices to be ready", limit) {
      progress.update("devices with their family: \(ready.values.reduce(0, +)) of \(devices)")
      return grown.count == workers.count
    }
  }

  /// Waits until the relay has worked off what the set-up left: subscriptions, acknowledgements.
  private func settle(_ relay: RelayProcess) async throws {
    let end = Monotonic.now() + UInt64(Self.settleLimit * 1e9)
    var before = relay.cpu
    while Monotonic.now() < end {
      try await Task.sleep(for: .milliseconds(500))
      let now = relay.cpu
      if (now - before) / 0.5 < Self.idleCores { return }
      before = now
      progress.update("waiting for the relay to rest")
    }
  }

  // MARK: runs

  /// One rate for so many seconds; then waits until all that is under way is over.
  @discardableResult
  func run(rate: Double, seconds: Double) async throws -> Results.Step {
    step = Tally()
    ran = [:]
    let start = Monotonic.now() + UInt64(Self.lead * 1e9)
    if begin == 0 { begin = start }
    let finishedBefore = finished
    let cpuBefore = cpu
    let order = Run(
      families: settings.families, seed: settings.seed, mix: settings.mix, rate: rate,
      seconds: seconds, first: runs << 40, start: start, patience: Self.patience, drain: Self.drain)
    runs += 1
    for worker in workers { worker.order(.run(order)) }
    // Of hours, so many moments that a picture shows them all.
    let interval = UInt64(max(1, (seconds / Self.moments).rounded(.up))) * 1_000_000_000
    var tick = start + interval
    noted = start
    try await wait("the run to end", Self.lead + seconds + Self.drain + 30) {
      if Monotonic.now() >= tick {
        tick += interval
        note(rate)
      }
      return ran.count == workers.count
    }
    note(rate)
    let took = Double(Monotonic.now() - start) / 1e9
    let cpuAfter = cpu
    let approvals = step.histogram(.approval)
    let unfinished = ran.values.reduce(0, +)
    let span = max(seconds, Double(max(lastFinished, start) - start) / 1e9)
    let result = Results.Step(
      offered: rate, achieved: Double(finished - finishedBefore) / span,
      approvals: Percentiles(approvals), unfinished: unfinished,
      holds: settings.objective.map { $0.holds(approvals) && unfinished == 0 },
      relayCores: (cpuAfter.relay - cpuBefore.relay) / took,
      workerCores: (cpuAfter.workers - cpuBefore.workers) / took)
    results.steps.append(result)
    results.unfinished = unfinished
    return result
  }

  /// Looks for the highest rate that holds the objective: doubles it until it does not, then halves the gap.
  func ramp(from first: Double, seconds: Double) async throws {
    var (held, broken) = (0.0, Double.infinity)
    var rate = first
    for _ in 0..<16 {
      let step = try await run(rate: rate, seconds: seconds)
      let holds = step.holds ?? false
      progress.line(
        "\(rate.short)/s: p50 \(step.approvals.p50.short) ms, p99 \(step.approvals.p99.short) ms"
          + (holds ? ": holds" : ": does not hold"))
      if holds { held = max(held, rate) } else { broken = min(broken, rate) }
      if step.unfinished > 0 { break }
      if broken.isFinite, broken - held <= max(held / 12, 1) { break }
      rate = broken.isFinite ? (held + broken) / 2 : rate * 2
    }
    results.highestRate = held
  }

  private var finished: Int { counts.values.reduce(0) { $0 + $1.finished } }
  private var cpu: (relay: Double, workers: Double) {
    (
      relay?.cpu ?? 0,
      workers.reduce(0) { $0 + (ProcessReading($1.pid)?.cpuSeconds ?? 0) }
    )
  }

  /// Ends a second, or however long a moment is.
  private func note(_ rate: Double) {
    let now = Monotonic.now()
    let second = Double(now - begin) / 1e9
    let span = max(1, Double(now - min(now, noted)) / 1e9)
    noted = now
    var approvals = moment.histogram(.approval)
    let times = Percentiles(approvals)
    approvals.add(moment.histogram(.heldUp))
    moment = Tally()
    let line = Results.Moment(
      second: second, finished: UInt64((Double(approvals.totalCount) / span).rounded()),
      measured: times.count,
      underway: underway.values.reduce(0, +),
      p50: times.p50, p99: times.p99, max: times.max)
    results.moments.append(line)
    sampler?.sample(second)
    progress.second(line, rate)
  }

  // MARK: the end

  /// Ends the relay, has the workers check what happened, and ends them.
  func finish() async throws -> Results {
    relay?.stop()
    relay = nil
    let store = relayFolder.appendingPathComponent("relay.sqlite").path
    // One after the other: a store has one user.
    for (number, worker) in workers.enumerated() {
      worker.order(.check(store: store))
      try await wait("worker \(worker.index + 1) to check", 600) {
        progress.update("checking what happened: worker \(number + 1) of \(workers.count)")
        return checked[worker.index] != nil
      }
    }
    for worker in workers { results.checks += checked[worker.index]! }
    stop()
    results.counts = counts.values.reduce(into: SimulatedUsers.Counts()) { $0 += $1 }
    results.processes = sampler?.series ?? []
    results.measures = Measure.allCases.map {
      .init(name: $0.rawValue, times: Percentiles(whole.histogram($0)))
    }
    results.kinds = Kind.allCases.filter { $0 != .off }.map {
      .init(name: $0.rawValue, times: Percentiles(whole.histogram(.approval, $0)))
    }
    let approvals = whole.histogram(.approval)
    results.distribution = approvals.percentiles(ticksPerHalfDistance: 5).map {
      .init(percentile: $0.percentile, milliseconds: Double($0.value) / 1_000)
    }
    progress.clear()
    return results
  }

  /// Ends all processes.
  func stop() {
    for reader in readers { reader.cancel() }
    for worker in workers { worker.stop() }
    workers = []
    relay?.stop()
    relay = nil
  }

  // MARK: notes

  private func take(_ note: Note, _ worker: Int) {
    switch note {
    case .hosting(let count, _): ready[worker] = count
    case .hosted(let before, let after): grown[worker] = after - before
    case .second(let second):
      whole.add(second)
      step.add(second)
      moment.add(second)
      counts[worker] = second.counts
      underway[worker] = second.underway
      lastFinished = max(lastFinished, second.lastFinished)
    case .ran(let unfinished): ran[worker] = unfinished
    case .checked(let result): checked[worker] = result
    case .failed(let what): failure = failure ?? what
    }
  }

  /// Looks every 20 ms whether it is so.
  private func wait(_ what: String, _ seconds: Double, _ isSo: () throws -> Bool) async throws {
    let end = Monotonic.now() + UInt64(seconds * 1e9)
    while try !isSo() {
      if let failure {
        throw LoadError("\(failure). Nothing was checked; --directory keeps the files for a look.")
      }
      guard relay?.isRunning ?? true else {
        throw LoadError(
          "The relay has ended, or was killed: what it said stands above. Nothing was checked.")
      }
      guard Monotonic.now() < end else {
        throw LoadError(
          "Waited \(seconds.short) s for \(what). Try fewer --families, or a lower --rate.")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// What went wrong, and what to do.
struct LoadError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Reads what the kernel says of each process.
struct ProcessSampler {
  private(set) var series: [Results.Series]
  private let pids: [pid_t]
  private var last: [(at: UInt64, cpu: Double)]

  init(_ processes: [(pid: pid_t, name: String)]) {
    pids = processes.map(\.pid)
    series = processes.map { .init(name: $0.name) }
    last = processes.map { (Monotonic.now(), ProcessReading($0.pid)?.cpuSeconds ?? 0) }
  }

  mutating func sample(_ second: Double) {
    for (index, pid) in pids.enumerated() {
      guard let reading = ProcessReading(pid) else { continue }
      let now = Monotonic.now()
      let span = Double(now - last[index].at) / 1e9
      guard span > 0.2 else { continue }
      series[index].samples.append(
        .init(
          second: second, cores: (reading.cpuSeconds - last[index].cpu) / span,
          bytes: reading.residentBytes))
      last[index] = (now, reading.cpuSeconds)
    }
  }
}
