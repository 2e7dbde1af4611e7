import ArgumentParser
import Credentials
import DeviceAgent
import FamilyModel
import Foundation
import Histogram
import Logging
import Processes
import RelayStore
import SQLiteStore
import Synchronization
import ZeroMQ

/// A process that hosts many families and lets them ask. The load starts it, and tells it what to do.
struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker", abstract: "A worker of a load; started by it.", shouldDisplay: false)

  func run() async throws {
    // The one who gives orders has gone, or was interrupted and stops this process itself.
    signal(SIGINT, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    let (orders, continuation) = AsyncStream<Order>.makeStream()
    let reader = Thread {
      while let line = readLine() {
        if let order = Line.decode(Order.self, line) { continuation.yield(order) }
      }
      continuation.finish()
      // Nobody gives orders any more, and whoever runs may not see the end for hours.
      sleep(LoadWorker.patience)
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
      LoadWorker.tell(.failed("\(error)"))
      await worker.stop()
      throw ExitCode.failure
    }
    await worker.stop()
    LoadWorker.exit()
  }
}

/// The hosts of one process.
actor LoadWorker {
  /// Nanoseconds between two looks at what is under way.
  private static let look = Duration.milliseconds(20)
  /// Seconds that a worker may take to end when there are no orders any more.
  static let patience: UInt32 = 5
  /// The relay, and who started both.
  private static let parents = Mutex<(relay: pid_t, load: pid_t)?>(nil)
  /// Seconds that the devices of one host may take to get ready.
  private static let readyLimit = 120.0

  private var hosting: Hosting?
  private var hosts: [(host: AgentHost, crowd: SimulatedUsers, task: Task<Void, Never>)] = []
  /// Of the families whose whole history is kept.
  private var organizers: [FamilyID: Credential] = [:]
  /// Questions that the generators have handed over.
  private var asked = 0
  private var ticker: Task<Void, Never>?

  static func tell(_ note: Note) {
    try? FileHandle.standardOutput.write(contentsOf: Line.encode(note))
  }

  // MARK: hosting

  /// Starts the hosts, one after the other: so nobody's requests wait behind everybody's.
  func host(_ hosting: Hosting) async throws {
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
    let devices = hosting.households.devices.count
    var ready = 0
    for first in stride(
      from: hosting.families.lowerBound, through: hosting.families.upperBound,
      by: Int(hosting.perHost))
    {
      let families = first...min(first + hosting.perHost - 1, hosting.families.upperBound)
      let crowd = SimulatedUsers(
        deviceCount: devices, notebook: HistoryRecorder(every: hosting.every))
      let configuration = AgentHost.Configuration(
        credentials: hosting.households.credentials(families, relay: relay), directory: folder,
        apps: [SimulatedUsers.app: []])
      let host = try AgentHost(
        configuration,
        store: SQLiteAgentStore(path: folder.appendingPathComponent("\(first).sqlite").path),
        responder: crowd, localApps: crowd, observer: crowd, trace: Trace(nil), logger: logger)
      let task = Task { do { try await host.run() } catch {} }
      hosts.append((host, crowd, task))
      for credential in configuration.credentials
      where credential.address.device == FamilyFactory.organizer && hosting.isWhole(credential) {
        organizers[credential.address.family] = credential
      }
      let end = Monotonic.now() + UInt64(Self.readyLimit * 1e9)
      while crowd.readyCount < families.count * devices {
        guard Monotonic.now() < end else { throw NotReady() }
        try await Task.sleep(for: Self.look)
        Self.tell(.hosting(ready: ready + crowd.readyCount, of: hosting.families.count * devices))
      }
      ready += families.count * devices
    }
    let after = ProcessReading(getpid())?.residentBytes ?? 0
    Self.tell(.hosted(before: before, after: after))
    ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        await self?.tellSecond()
      }
    }
  }

  /// Ends this process; and the relay, when the load is gone without having ended it.
  static func exit() -> Never {
    if let parents = parents.withLock({ $0 }), getppid() != parents.load {
      kill(parents.relay, SIGTERM)
    }
    Foundation.exit(0)
  }

  /// Ends the hosts.
  func stop() async {
    ticker?.cancel()
    for (_, _, task) in hosts { task.cancel() }
    for (_, _, task) in hosts { await task.value }
    hosts = []
  }

  // MARK: running

  func run(_ run: Run) async {
    guard let hosting else { return }
    let generator = Generator(run, hosting, hosts.map { ($0.host, $0.crowd) })
    asked += await generator.run()
    let end = Monotonic.now() + UInt64(run.drain * 1e9)
    var (over, moved) = (0, Monotonic.now())
    // A busy host may not have begun yet with what it was handed.
    while hosts.reduce(0, { $0 + $1.crowd.asked }) < asked
      || !hosts.allSatisfy({ $0.crowd.isIdle }),
      Monotonic.now() < min(end, moved + UInt64(run.patience * 1e9))
    {
      try? await Task.sleep(for: Self.look)
      let now = hosts.reduce(0) { $0 + $1.crowd.over }
      if now > over { (over, moved) = (now, Monotonic.now()) }
    }
    tellSecond()
    Self.tell(.ran(unfinished: hosts.reduce(0) { $0 + $1.crowd.underway }))
  }

  private func tellSecond() {
    var histograms: [Measure: [Kind: Histogram<UInt64>]] = [:]
    var second = Second(measured: [], counts: SimulatedUsers.Counts(), underway: 0, lastFinished: 0)
    for (_, crowd, _) in hosts {
      let (samples, counts, lastFinished) = crowd.takeSamples()
      second.counts += counts
      second.underway += crowd.underway
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
          Second.Values(
            measure: measure, kind: kind, values: recorded.map(\.value),
            counts: recorded.map { $0.count }))
      }
    }
    Self.tell(.second(second))
  }

  // MARK: checking

  func check(_ path: String) async throws {
    ticker?.cancel()
    for (_, crowd, _) in hosts { crowd.close() }
    let store = try SQLiteEventStore(path: path)
    defer { store.close() }
    var result = CheckResult()
    for (_, crowd, _) in hosts { result += try crowd.check(store, organizers) }
    Self.tell(.checked(result))
  }

  struct NotReady: Error, CustomStringConvertible {
    let description = "The devices of a host were not ready in time: is the machine too busy?"
  }
}
