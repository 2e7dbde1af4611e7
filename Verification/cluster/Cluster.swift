import ArgumentParser
import Foundation
import ProcessCluster
import ServiceLifecycle

/// Runs, shows and stops a relay with many families.
@main
struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster", abstract: "Run a relay and any number of families as real processes.",
    subcommands: [Up.self, Exec.self, ShowStatus.self, Down.self, Demo.self, Kills.self])
}

extension Cluster {
  /// Starts a cluster and shows it until SIGINT.
  struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Start a relay and families and show them live until Ctrl-C.")
    @OptionGroup var options: ClusterOptions
    @OptionGroup var family: FamilyOptions
    @Option(help: "Number of families, each with two guardians and a child.") var families = 3
    @Flag(help: "Print one JSON line per second instead of the table.") var json = false
    @Flag(
      help: .init(
        "Show the first family's devices and processes on a web page of this machine, where a "
          + "person uses them.")) var console = false
    @Option(help: "The port of the page; 0 chooses a free one.") var consolePort = 0

    func validate() throws {
      guard 1...10_000 ~= families else { throw ValidationError("--families is 1 to 10000.") }
      guard !console || !json else {
        throw ValidationError("--console excludes --json: the page shows the state.")
      }
    }

    func run() async throws {
      if console { return try runConsole() }
      let cluster = try await family.cluster(in: options.directory, families: families)
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: Watch(cluster: cluster, json: json))],
          gracefulShutdownSignals: [.sigterm, .sigint], logger: .init(label: "cluster")))
      try await group.run()
    }
  }

  /// Prints the status of all devices.
  struct ShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show the state of each device.")
    @OptionGroup var options: ClusterOptions
    @Flag(help: "Print JSON instead of a table.") var json = false

    func run() async throws {
      let devices = Status.all(Layout(options.directory))
      guard !devices.isEmpty else {
        throw ClusterError(
          "No cluster in \(options.directory). Start one with `swift run cluster up`, or name its folder with"
            + " --directory.")
      }
      print(json ? try Watch.json(devices) : Status.table(devices))
    }
  }

  /// Stops the cluster of the folder, which runs in another terminal.
  struct Down: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Stop the cluster in the folder.")
    @OptionGroup var options: ClusterOptions

    func run() async throws {
      let layout = Layout(options.directory)
      guard let pid = FolderLock.owner(of: layout) else {
        throw ClusterError("No cluster runs in \(options.directory).")
      }
      kill(pid, SIGTERM)
      for _ in 0..<500 where FolderLock.owner(of: layout) == pid {
        try await Task.sleep(for: .milliseconds(20))
      }
      guard FolderLock.owner(of: layout) == nil else {
        throw ClusterError("Process \(pid) is still stopping: try again in a moment.")
      }
      print("stopped")
    }
  }
}

/// Runs the cluster and prints its state every second.
struct Watch: Service {
  let cluster: RunningCluster
  let json: Bool

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      do {
        try await cluster.start { if !json { print($0) } }
        while !Task.isCancelled {
          show()
          try await Task.sleep(for: .seconds(1))
        }
      } catch is CancellationError {}
    }
    await cluster.stop()
  }

  private func show() {
    let devices = Status.all(cluster.layout)
    if json {
      if let line = try? Self.json(devices) { print(line) }
      return
    }
    let restarts = ([cluster.relay] + cluster.agents).map(\.restarts).reduce(0, +)
    print(
      "\u{1B}[2J\u{1B}[H\(cluster.agents.count + 1) processes, \(restarts) restarts, Ctrl-C stops\n"
    )
    print(Status.table(devices))
    print(hints.map { "\n\($0)" }.joined())
  }

  /// The lines to copy: the variable of each app's process, and a guardian's next command.
  private var hints: [String] {
    let guardian = cluster.agents.first { $0.name.hasPrefix("parent-agent") }
    let credential = guardian?.arguments.drop { $0 != "--credential" }.dropFirst().first
    return cluster.appCredentials.prefix(Self.hintLimit).map {
      "export PERMISSION_RELAY_DEVICE='\($0)'"
    } + (credential.map { ["\(Layout.program("relayctl")) pending --as '\($0)'"] } ?? [])
  }
  /// The number of devices whose variable is printed.
  private static let hintLimit = 4

  static func json(_ devices: [Status.Device]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(devices), as: UTF8.self)
  }
}
