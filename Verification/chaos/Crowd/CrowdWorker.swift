import ArgumentParser
import Credentials
import DeviceAgent
import FamilyModel
import Foundation
import LoadFamilies
import Logging
import ProcessCluster
import Processes
import SQLiteStore
import ServiceLifecycle
import ZeroMQ

/// A process that hosts many devices of a crowd, and the people who use them. Chaos starts it.
struct CrowdWorker: AsyncParsableCommand {
  static let name = "crowd-worker"
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Host devices of a crowd.", shouldDisplay: false)

  @Option var directory: String
  @Option var relay: String
  @Option var requests: String
  @Option var broadcasts: String
  @Option var facts: String
  /// The file whose existence stops the people.
  @Option var rest: String
  @Option var seed: UInt64
  @Option var families: Int
  @Option var workers: Int
  @Option var number: Int
  /// The people's actions per second on this worker.
  @Option var rate: Double

  /// The pause between two rounds of actions.
  private static let round = Duration.milliseconds(10)
  /// Rounds of actions between two reports.
  private static let roundsPerReport = 25
  /// The most seconds of actions that people catch up after a stop of the process.
  private static let catchUp = 0.5

  func run() async throws {
    let plan = CrowdPlan(seed: seed, families: families, workers: workers)
    let administrator = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: URL(fileURLWithPath: relay)))
    let credentials = plan.credentials(number, plan.range, relay: administrator).map { credential in
      var credential = credential
      credential.requests = requests
      credential.broadcasts = broadcasts
      return credential
    }
    let folder = URL(fileURLWithPath: directory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let journal = try FactJournal(URL(fileURLWithPath: facts))
    let people = CrowdPeople(journal)
    let configuration = AgentHost.Configuration(
      credentials: credentials, directory: folder, apps: [CrowdPeople.app: []])
    var logger = Logger(label: Self.name) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .critical
    let host = try AgentHost(
      configuration,
      store: SQLiteAgentStore(path: folder.appendingPathComponent("agent.sqlite").path),
      responder: people, localApps: people, observer: DeviceFacts(journal: journal),
      trace: Trace(nil), logger: logger)
    let activity = Activity(
      host: host, people: people, addresses: credentials.map(\.address), folder: folder,
      sample: plan.sample(number), rest: rest, rate: rate)
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: host), .init(service: activity)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  /// The people of the worker, and its reports.
  struct Activity: Service {
    let host: AgentHost
    let people: CrowdPeople
    let addresses: [DeviceAddress]
    let folder: URL
    let sample: UInt64
    let rest: String
    let rate: Double

    func run() async throws {
      await host.openApps(on: addresses, people)
      try await cancelWhenGracefulShutdown {
        do { try await act() } catch is CancellationError {}
      }
    }

    private func act() async throws {
      var (last, due, rounds) = (MonotonicInstant.now, 0.0, 0)
      while true {
        try await Task.sleep(for: CrowdWorker.round)
        let now = MonotonicInstant.now
        due = min(due + rate * (now - last).seconds, rate * CrowdWorker.catchUp)
        last = now
        rounds += 1
        if rounds % CrowdWorker.roundsPerReport == 0 {
          try await host.crowdStatus(sample: sample).write(in: folder)
        }
        guard !FileManager.default.fileExists(atPath: rest) else { continue }
        let count = Int(due)
        due -= Double(count)
        let chosen = (0..<count).map { _ in addresses.randomElement()! }
        await host.act(chosen, people)
      }
    }
  }
}

extension AgentHost {
  /// Starts the apps of the children's devices.
  func openApps(on addresses: [DeviceAddress], _ people: CrowdPeople) {
    for address in addresses where address.device == FamilyFactory.child {
      for input in people.openApp(on: address) { act(input, on: address) }
    }
  }

  /// The state of all devices, with the positions of a sample's.
  func crowdStatus(sample: UInt64) -> CrowdStatus {
    var status = CrowdStatus(process: getpid())
    for (address, device) in host.devices {
      let position = device.link.position.reduce(0) { $0 + $1.delivered }
      status.devices += 1
      status.connected += device.connection == .connected ? 1 : 0
      status.outbox += device.link.pendingCommands.count
      status.unacknowledged += device.child?.unacknowledged ?? 0
      status.position += position
      if address.family.rawValue == sample {
        status.samples.append(
          CrowdStatus.Sample(
            family: sample, device: address.device.rawValue, position: position))
      }
    }
    return status
  }
}
