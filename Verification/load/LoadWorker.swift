import ArgumentParser
import Credentials
import DeviceAgent
import FamilyModel
import Foundation
import Histogram
import LoadFamilies
import Logging
import Processes
import RelayStore
import SQLiteStore
import Synchronization
import ZeroMQ

/// A worker process that hosts many families. The load starts the process and sends it orders.
struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker", abstract: "Run a worker; started by the load.", shouldDisplay: false)

  func run() async throws {
    // The load stops this process itself, also after SIGINT.
    signal(SIGINT, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    let (orders, continuation) = AsyncStream<Order>.makeStream()
    let reader = Thread {
      while let line = readLine() {
        if let order = Line.decode(Order.self, line) { continuation.yield(order) }
      }
      continuation.finish()
      // The load has ended. A running order may last for hours, so end this process.
      sleep(LoadWorker.exitTimeout)
      LoadWorker.exit()
    }
    reader.start()
    let worker = LoadWorker()
    do {
      for await order in orders {
        switch order {
        case .host(let hosting): try await worker.host(hosting)
        case .run(let run): await worker.run(run)
        case .check(let store): try await worker.check(store)
        }
      }
    } catch {
      LoadWorker.send(.failed("\(error)"))
      await worker.stop()
      throw ExitCode.failure
    }
    await worker.stop()
    LoadWorker.exit()
  }
}

/// The hosts of one process.
actor LoadWorker {
  /// The interval at which the worker polls its hosts.
  private static let pollInterval = Duration.milliseconds(20)
  /// Seconds that a worker may take to end after its orders have ended.
  static let exitTimeout: UInt32 = 5
  /// The process ids of the relay and of the load.
  private static let parents = Mutex<(relay: pid_t, load: pid_t)?>(nil)
  /// Seconds within which the devices of one host must attach.
  private static let readyLimit = 300.0

  private var hosting: HostingOrder?
  private var hosts: [(host: AgentHost, users: SimulatedUsers, task: Task<Void, Never>)] = []
  /// The organizers of the families with complete histories.
  private var organizers: [FamilyID: Credential] = [:]
  /// The number of questions that the generators have dispatched.
  private var asked = 0
  private var ticker: Task<Void, Never>?

  static func send(_ note: WorkerReport) {
    try? FileHandle.standardOutput.write(contentsOf: Line.encode(note))
  }

  // MARK: hosting

  /// Starts the hosts one after another, so that attachments do not overload the relay.
  func host(_ hosting: HostingOrder) async throws {
    self.hosting = hosting
    Self.parents.withLock { $0 = (hosting.relayPID, getppid()) }
    let before = ProcessReading(getpid())?.residentBytes ?? 0
    let relay = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: URL(fileURLWithPath: hosting.relay)))
    let folder = URL(fileURLWithPath: hosting.directory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var logger = Logger(label: "load") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    let devices = hosting.factory.devices.count
    var ready = 0
    for first in stride(
      from: hosting.families.lowerBound, through: hosting.families.upperBound,
      by: Int(hosting.perHost))
    {
      let families = first...min(first + hosting.perHost - 1, hosting.families.upperBound)
      let users = SimulatedUsers(
        deviceCount: devices, recorder: HistoryRecorder(every: hosting.every))
      let configuration = AgentHost.Configuration(
        credentials: hosting.factory.credentials(families, relay: relay), directory: folder,
        apps: [SimulatedUsers.app: []])
      let host = try AgentHost(
        configuration,
        store: SQLiteAgentStore(path: folder.appendingPathComponent("\(first).sqlite").path),
        responder: users, localApps: users, observer: users, trace: Trace(nil), logger: logger)
      let task = Task { do { try await host.run() } catch {} }
      hosts.append((host, users, task))
      for credential in configuration.credentials
      where credential.address.device == FamilyFactory.organizer && hosting.isWhole(credential) {
        organizers[credential.address.family] = credential
      }
      let end = MonotonicInstant.now + .seconds(Self.readyLimit)
      while users.readyCount < families.count * devices {
        guard MonotonicInstant.now < end else { throw NotReady() }
        try await Task.sleep(for: Self.pollInterval)
        Self.send(.hosting(ready: ready + users.readyCount, of: hosting.families.count * devices))
      }
      ready += families.count * devices
    }
    let after = ProcessReading(getpid())?.residentBytes ?? 0
    Self.send(.hosted(before: before, after: after))
    ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        await self?.reportInterval()
      }
    }
  }

  /// Ends this process, and the relay if the load has ended without stopping it.
  static func exit() -> Never {
    if let parents = parents.withLock({ $0 }), getppid() != parents.load {
      kill(parents.relay, SIGTERM)
    }
    Foundation.exit(0)
  }

  /// Stops the hosts.
  func stop() async {
    ticker?.cancel()
    for (_, _, task) in hosts { task.cancel() }
    for (_, _, task) in hosts { await task.value }
    hosts = []
  }

  // MARK: running

  func run(_ run: RunOrder) async {
    guard let hosting else { return }
    let generator = LoadGenerator(run, hosting, hosts.map { ($0.host, $0.users) })
    asked += await generator.run()
    let end = MonotonicInstant.now + .seconds(run.drainTimeout)
    var (ended, moved) = (0, MonotonicInstant.now)
    // A busy host may not have begun all dispatched questions.
    while hosts.reduce(0, { $0 + $1.users.asked }) < asked
      || !hosts.allSatisfy({ $0.users.isIdle }),
      MonotonicInstant.now < min(end, moved + .seconds(run.stallTimeout))
    {
      try? await Task.sleep(for: Self.pollInterval)
      let now = hosts.reduce(0) { $0 + $1.users.ended }
      if now > ended { (ended, moved) = (now, MonotonicInstant.now) }
    }
    reportInterval()
    Self.send(.ran(unfinished: hosts.reduce(0) { $0 + $1.users.underway }))
  }

  private func reportInterval() {
    var histograms: [Measure: [Kind: Histogram<UInt64>]] = [:]
    var second = IntervalReport(
      measured: [], counts: SimulatedUsers.Counts(), underway: 0, lastFinished: .machineStart)
    for (_, users, _) in hosts {
      let (samples, counts, lastFinished) = users.takeSamples()
      second.counts += counts
      second.underway += users.underway
      second.lastFinished = max(second.lastFinished, lastFinished)
      for sample in samples {
        histograms[sample.measure, default: [:]][sample.kind, default: Latency.histogram()]
          .record(Latency.bounded(sample.value))
      }
    }
    for measure in Measure.allCases {
      for kind in Kind.allCases {
        guard let histogram = histograms[measure]?[kind] else { continue }
        let recorded = Array(histogram.recordedValues())
        second.measured.append(
          IntervalReport.Values(
            measure: measure, kind: kind, values: recorded.map(\.value),
            counts: recorded.map { $0.count }))
      }
    }
    Self.send(.second(second))
  }

  // MARK: checking

  func check(_ path: String) async throws {
    ticker?.cancel()
    for (_, users, _) in hosts { users.close() }
    let store = try SQLiteEventStore(path: path)
    defer { store.close() }
    var result = CheckResult()
    for (_, users, _) in hosts { result += try users.check(store, organizers) }
    Self.send(.checked(result))
  }

  struct NotReady: Error, CustomStringConvertible {
    let description = "The devices of a host did not attach in time: the machine may be overloaded."
  }
}
