import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import Logging
import PrivateFiles
import ProgramOptions
import RelayOperation
import RelayServer
import RelayStore
import SQLiteStore
import ServiceLifecycle
import ZeroMQ

/// An endpoint could not be bound.
struct CannotListen: Error, CustomStringConvertible { let description: String }

extension ExitStatus {
  /// The exit code of a relay that failed; `nil` for errors of options and arguments.
  init?(ofRelay error: any Error) {
    switch error {
    case is CannotListen: self = .inUse
    case is PrivateFile.Failure: self = .unusableKeys
    case let error as StoreError:
      switch error.code {
      case .damaged, .wrongVersion: self = .unreadableStore
      case .locked: self = .inUse
      case .conflict, .full, .io: self = .storeFailed
      }
    default: return nil
    }
  }
}

/// The program `relay`.
@main
struct Relay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay", abstract: "Order, store and broadcast the events of families.",
    discussion: """
      Prints `ready` when both sockets are bound. SIGTERM and SIGINT stop the relay \
      after it has stored every request that it received.
      """,
    version: Program.version)

  static func main() async { await Program.run(Self.self, status: ExitStatus.init(ofRelay:)) }

  @Option(help: "Folder of the relay's keys and store, created by `relayctl init`.")
  var directory: String
  @Option(help: "Endpoint for requests (default: that of `relayctl init`).")
  var requests: String?
  @Option(help: "Endpoint for broadcasts (default: that of `relayctl init`).")
  var broadcasts: String?
  @Option(
    name: [.customLong("max-families-in-memory"), .customLong("max-families")],
    help: "Number of families in memory. The least recently used families are evicted first.")
  var maxFamilies = 100_000
  @Option(
    help: """
      Number of shards that handle families in parallel (default: 2; 1 with fewer than 4 \
      processors).
      """)
  var shards: Int?
  @Option(
    name: .customLong("operator"),
    help: "Folder of the socket for relayctl and relay-monitor (default: the relay's folder).")
  var operatorFolder: String?
  @Option(
    help: """
      Megabytes of the disk that stay free. Below, commands are refused with problem 501, and reads \
      continue. 0 turns the check off.
      """)
  var diskReserve = 256
  @Option(help: "Megabytes of events that a family may have in the store.")
  var familyQuota = 256
  @Option(help: "Megabytes of events that a device may have in the store.")
  var deviceQuota = 64
  @Option(
    help: """
      Megabytes of memory that the relay may use (default: the limit of its control group, or three \
      quarters of the machine's memory). Before, the relay refuses what takes memory. 0 turns the \
      check off.
      """)
  var memoryLimit: Int?
  @Option(
    help: """
      Days for which texts, and questions that were declined, cancelled or expired, stay in the store. \
      Then their contents are erased (default: never).
      """)
  var retention: Int?
  @Flag(help: "Print one JSON line for each durable event: identifiers and sizes only.")
  var trace = false
  @Option(help: .hidden) var lanes: String?
  @OptionGroup var logging: LogOptions

  func validate() throws {
    guard lanes == nil else { throw ValidationError("--lanes is now --shards.") }
    guard maxFamilies > 0 else {
      throw ValidationError("--max-families-in-memory must be 1 or more.")
    }
    try Endpoint.check(requests, broadcasts)
    guard 0...(1 << 30) ~= diskReserve else {
      throw ValidationError("--disk-reserve takes 0 or more megabytes.")
    }
    guard 1...(1 << 30) ~= familyQuota, 1...(1 << 30) ~= deviceQuota else {
      throw ValidationError("--family-quota and --device-quota take 1 or more megabytes.")
    }
    guard 0...(1 << 30) ~= memoryLimit ?? 0 else {
      throw ValidationError("--memory-limit takes 0 or more megabytes.")
    }
    try RetentionDays.check(retention)
    guard shards ?? 1 > 0 else { throw ValidationError("--shards must be 1 or more.") }
  }

  func run() async throws {
    PrivateFile.restrictNewFilesToOwner()
    let folder = URL(fileURLWithPath: directory)
    let logger = logging.logger(label: "relay")
    let keys = try RelayKeys.read(from: folder)
    let requests = self.requests ?? keys.requests ?? RelayKeys.requests(in: folder)
    let broadcasts = self.broadcasts ?? keys.broadcasts ?? RelayKeys.broadcasts(in: folder)
    try Endpoint.check(requests, broadcasts)
    try Endpoint.checkDistinct(requests, broadcasts)
    // The store's lock comes before the sockets, so that a second relay cannot take them from the
    // first.
    let path = folder.appendingPathComponent("relay.sqlite").path
    let store = try SQLiteEventStore(path: path)
    let damage = try store.findDamageAtStart()
    if damage.isIndexDamaged {
      logger.warning("the index of commands is damaged; the start rebuilds it from the log")
      try store.rebuildIndex()
    }
    var configuration = RelayService.Configuration(requests: requests, broadcasts: broadcasts)
    configuration.pipeline.maxFamilies = maxFamilies
    if let shards { configuration.pipeline.shards = shards }
    configuration.pipeline.reservedBytes = diskReserve << 20
    configuration.pipeline.familyQuota = familyQuota << 20
    configuration.pipeline.deviceQuota = deviceQuota << 20
    configuration.pipeline.memoryLimit = memoryLimit.map { $0 << 20 } ?? ProcessMemory.available
    configuration.pipeline.memoryInUse = { ProcessMemory.resident }
    configuration.pipeline.freeBytes = { RelayStatistics.Store.freeBytes(at: path) }
    let notifier = ServiceNotifier()
    let relay = try RelayService(
      configuration, keys: keys, store: store, damaged: damage.families,
      trace: trace ? CommitTrace { LogWriter.standardOutput.write($0, format: .json) } : nil,
      logger: logger
    ) {
      LogWriter.standardOutput.write("ready")
      notifier.notify(.ready)
    }
    let operatorFolder = operatorFolder.map { URL(fileURLWithPath: $0) } ?? folder
    let operators = try OperatorService(
      relay, at: operatorFolder, store: path, version: Program.version,
      retention: retention.map { .days($0) }, notifier: notifier, logger: logger)
    let group = ServiceGroup(
      configuration: .init(
        services: [
          .init(
            service: relay, successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup),
          // The last service stops first.
          .init(service: operators),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    let result: Result<Void, any Error>
    do { result = .success(try await group.run()) } catch { result = .failure(error) }
    // Everything is stored and sent. An orderly close of the sockets would take libzmq minutes with
    // hundreds of thousands of subscriptions, because it searches all of them for each connection.
    withExtendedLifetime((relay, operators)) {
      do { try result.get() } catch let error as ZeroMQError {
        let error = CannotListen(
          description: "Cannot listen at \(configuration.requests), \(configuration.broadcasts) or "
            + "\(OperatorEndpoint.endpoint(in: operatorFolder)): \(error)")
        Program.end(Self.self, error, status: ExitStatus.init(ofRelay:))
      } catch { Program.end(Self.self, error, status: ExitStatus.init(ofRelay:)) }
      Foundation.exit(EXIT_SUCCESS)
    }
  }
}
