import ArgumentParser
import ClusterConsole
import Foundation
import Logging
import ProcessCluster
import ServiceLifecycle

extension Cluster.Up {
  /// Starts the cluster with its page, until SIGINT.
  func runConsole() async throws {
    let layout = Layout(options.directory)
    var network: ConsoleNetwork?
    let cluster = try await family.cluster(in: options.directory, families: families) {
      configuration, families in
      network = try await ConsoleNetwork(agents: families.agents)
      network!.configure(&configuration, layout)
    }
    let console = ClusterConsole(cluster, network!) { Self.say($0) }
    var logger = Logger(label: "console")
    logger.logLevel = .warning
    let server = try ConsoleServer(console, port: consolePort, logger: logger) { url in
      Self.say("The page, which starts with the cluster: \(url)")
    }
    let group = ServiceGroup(
      configuration: .init(
        services: server.services.map { .init(service: $0) },
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  /// Prints a line at once, also into a pipe.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
