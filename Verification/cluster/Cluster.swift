import ArgumentParser
import Foundation
import ProcessCluster
import ServiceLifecycle

/// Starts, shows and stops a relay with many families.
@main
struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster", abstract: "A relay and any number of families, as real processes.",
    subcommands: [Up.self, ShowStatus.self, Down.self, Demo.self, Kills.self])
}

/// The folder that all commands work on.
struct ClusterOptions: ParsableArguments {
  @Option(help: "The folder of the cluster's files.")
  var directory = "/tmp/permission-relay"
}

extension Cluster {
  /// Starts a cluster and watches it until Ctrl-C.
  struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Start a relay and families; show them live; stop them with Ctrl-C.")
    @OptionGroup var options: ClusterOptions
    @Option(help: "How many families; each has two guardians and a child.") var families = 3
    @Flag(help: "Print one JSON line a second instead of the table.") var json = false

    func validate() throws {
      guard 1...10_000 ~= families else { throw ValidationError("--families is 1 to 10000.") }
    }

    func run() async throws {
      let cluster = try RunningCluster(Layout(options.directory), .example(families))
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: Watch(cluster: cluster, json: json))],
          gracefulShutdownSignals: [.sigterm, .sigint], logger: .init(label: "cluster")))
      try await group.run()
    }
  }

  /// Prints what the agents know.
  struct ShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show what each device knows.")
    @OptionGroup var options: ClusterOptions
    @Flag(help: "For programs.") var json = false

    func run() async throws {
      let devices = Status.all(Layout(options.directory))
      guard !devices.isEmpty else {
        throw ClusterError(
          "No cluster in \(options.directory). `swift run cluster up` starts one; --directory names its"
            + " folder, if it is another.")
      }
      print(json ? try Watch.json(devices) : Status.table(devices))
    }
  }

  /// Stops a cluster that another terminal runs.
  struct Down: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Stop the cluster of this folder.")
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
        throw ClusterError("Process \(pid) is still stopping: look again in a moment.")
      }
      print("stopped")
    }
  }
}

/// Runs the cluster and prints its state.
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
  }

  static func json(_ devices: [Status.Device]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(devices), as: UTF8.self)
  }
}
