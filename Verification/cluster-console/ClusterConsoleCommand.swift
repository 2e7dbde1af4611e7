import ArgumentParser
import ClusterConsole
import Foundation
import Logging
import ProcessCluster
import ServiceLifecycle

/// Runs a cluster with a web page, until SIGINT: `cluster up --console`.
@main
struct ClusterConsoleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster-console",
    abstract: "Run families as real processes, and show the first one on a web page.")
  @OptionGroup var options: ClusterOptions
  @OptionGroup var family: FamilyOptions
  @Option(help: "Number of families, each with two guardians and a child.") var families = 1
  @Option(help: "The port of the page on 127.0.0.1; 0 chooses a free one.") var consolePort = 0

  func validate() throws {
    guard 1...10_000 ~= families else { throw ValidationError("--families is 1 to 10000.") }
    guard 0...65_535 ~= consolePort else {
      throw ValidationError("--console-port takes 0 to 65535, not '\(consolePort)'.")
    }
    guard family.answer == nil else {
      throw ValidationError("--console excludes --answer: people answer on the page.")
    }
  }

  func run() async throws {
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
      Self.say("The page starts with the cluster. Open it in a browser: \(url)")
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
