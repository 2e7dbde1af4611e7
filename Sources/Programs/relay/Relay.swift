import ArgumentParser
import Credentials
import Foundation
import Logging
import ProgramOptions
import RelayServer
import SQLiteStore
import ServiceLifecycle
import ZeroMQ

/// Where it cannot listen, and what to do.
struct CannotListen: Error, CustomStringConvertible { let description: String }

/// The relay: orders what happens in families and makes it durable.
@main
struct Relay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay", abstract: "Orders what happens in families, and makes it durable.",
    discussion: "Prints `ready` when both sockets are bound. SIGTERM and SIGINT end it.")

  @Option(help: "The folder that `relayctl init` made.") var directory: String
  @Option(help: "The endpoint for requests; by default a unix socket in the folder.")
  var requests: String?
  @Option(help: "The endpoint for broadcasts; by default a unix socket in the folder.")
  var broadcasts: String?
  @Option(
    name: [.customLong("max-families-in-memory"), .customLong("max-families")],
    help: "Families held in memory; the least recently used go first.")
  var maxFamilies = 100_000
  @Option(
    help: """
      Parts of the families that are worked on at the same time; 2 if not given, where there are 4 processors.
      """)
  var shards: Int?
  @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "info"

  func validate() throws {
    guard maxFamilies > 0 else { throw ValidationError("--max-families-in-memory is 1 or more.") }
    let folder = URL(fileURLWithPath: directory)
    try Endpoint.check(
      requests ?? RelayKeys.requests(in: folder), broadcasts ?? RelayKeys.broadcasts(in: folder))
    guard shards ?? 1 > 0 else { throw ValidationError("--lanes is 1 or more.") }
    guard Logger.Level(rawValue: logLevel) != nil else {
      throw ValidationError("--log-level is one of those that --help names.")
    }
  }

  func run() async throws {
    PrivateFile.keepToOwner()
    let folder = URL(fileURLWithPath: directory)
    var logger = Logger(label: "relay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    let keys = try RelayKeys.read(from: folder)
    // The store's lock comes before the sockets: a second relay must not take them from the first.
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    try store.check()
    var configuration = RelayService.Configuration(
      requests: requests ?? RelayKeys.requests(in: folder),
      broadcasts: broadcasts ?? RelayKeys.broadcasts(in: folder))
    configuration.maxFamilies = maxFamilies
    if let shards { configuration.shards = shards }
    let relay = try RelayService(configuration, keys: keys, store: store, logger: logger) {
      FileHandle.standardOutput.write(Data("ready\n".utf8))
    }
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: relay)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger))
    do { try await group.run() } catch let error as ZeroMQError {
      throw CannotListen(
        description:
          "Cannot listen at \(configuration.requests) and \(configuration.broadcasts): \(error)")
    }
    // Everything is stored and nothing waits to be sent. Closing the sockets in order would take libzmq
    // minutes with hundreds of thousands of subscriptions: it looks through all of them for each connection.
    withExtendedLifetime(relay) { Foundation.exit(EXIT_SUCCESS) }
  }
}
