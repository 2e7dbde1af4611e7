import Foundation
import Processes
import Subprocess
import Synchronization
import SystemPackage

/// A relay and the agents of some families, as processes that are restarted when they die.
package final class RunningCluster: Sendable {
  /// The app on each child's device.
  package static let app = "example.landmarks"
  /// Seconds in which whatever is waited for must come, on a busy machine, too.
  package static let patience = 120.0

  package let layout: Layout
  package let relay: Managed
  package let agents: [Managed]
  private let tasks: Mutex<[Task<Void, any Error>]> = Mutex([])

  /// What a cluster may have that an ordinary one has not.
  package struct Manner: Sendable {
    /// More arguments of `relayctl init`: the endpoints that credentials name.
    package var initArguments: [String] = []
    /// More arguments of the relay: the endpoints that it binds.
    package var relayArguments: [String] = []
    /// More arguments of every agent.
    package var agentArguments: [String] = []
    /// More variables of a process, by its name.
    package var environment: @Sendable (String) -> [String: String] = { _ in [:] }
    /// Called before each start of a process, with its name.
    package var prepare: @Sendable (String) throws -> Void = { _ in }
    /// Called when the credentials are written, before any agent starts.
    package var prepareAgents: @Sendable () throws -> Void = {}
    package init() {}
  }
  private let manner: Manner
  private let lock: FolderLock

  /// A cluster of these families, not started.
  ///
  /// - Throws: `ClusterError` when another runs in the folder, or processes of one that was killed.
  package init(_ layout: Layout, _ file: ClusterFamilies, _ manner: Manner = Manner()) throws {
    self.layout = layout
    self.manner = manner
    try layout.prepare()
    lock = try FolderLock(layout)
    try layout.checkOrphans()
    try file.write(to: layout.families)
    relay = Managed(
      "relay", Layout.program("relay"),
      ["--directory", layout.relay.path] + manner.relayArguments,
      environment: manner.environment("relay"), log: layout.log("relay"),
      prepare: manner.prepare)
    let layout = layout
    agents = file.families.flatMap { family in
      ["child-agent", "parent-agent"].flatMap { kind -> [Managed] in
        if kind == "child-agent" { return [Self.agent(kind, family.id, nil, layout, manner)] }
        return family.members.filter { ["organizer", "guardian"].contains($0.role) }
          .map { Self.agent(kind, family.id, $0.name, layout, manner) }
      }
    }
  }

  private static func agent(
    _ kind: String, _ family: UInt64, _ member: String?, _ layout: Layout,
    _ manner: Manner
  ) -> Managed {
    let name = [kind, "\(family)", member?.lowercased()].compactMap { $0 }.joined(separator: "-")
    let script = layout.scripts.appendingPathComponent("\(name).json")
    if !FileManager.default.fileExists(atPath: script.path) {
      // Nobody answers until a script says so.
      try? Data(#"{"rules": []}"#.utf8).write(to: script)
    }
    let credential =
      member.map { layout.credential(family, $0) } ?? layout.credentials
    var arguments = [
      "--credential", credential.path, "--families", "\(family)",
      "--directory", layout.agent(name).path, "--script", script.path,
    ]
    arguments += manner.agentArguments
    if kind == "child-agent" {
      arguments += [
        "--app", "\(app)=\(Layout.program("app-agent"))",
        "--manifest",
        "\(app)=\(Layout.program("permission-relay_app-agent.resources"))/manifest.json",
      ]
    }
    return Managed(
      name, Layout.program(kind), arguments, environment: manner.environment(name),
      log: layout.log(name), prepare: manner.prepare)
  }

  package func agent(_ name: String) -> Managed { agents.first { $0.name == name }! }

  /// Makes the relay's keys and the families, and starts everything. Returns when all is connected.
  package func start(_ progress: (String) -> Void = { _ in }) async throws {
    progress("making the relay's keys")
    try await relayctl(["init", "--directory", layout.relay.path] + manner.initArguments)
    launch(relay)
    progress("making the families and their devices' keys")
    try await relayctl([
      "apply", layout.families.path, "--directory", layout.relay.path, "--credentials",
      layout.credentials.path,
    ])
    try manner.prepareAgents()
    for agent in agents { launch(agent) }
    progress("waiting for \(agents.count) agents")
    try await wait("all agents to connect") {
      agents.allSatisfy { agent in
        guard let status = Status.read(layout, agent.name) else { return false }
        return status.devices.allSatisfy { $0.relay == "connected" && $0.position > 0 }
      }
    }
  }

  private func launch(_ process: Managed) {
    let task = Task { try await process.run() }
    tasks.withLock { $0.append(task) }
  }

  /// Seconds after which a process that was asked to end is killed.
  static let stopLimit = 5.0

  /// Ends everything, agents first, and waits for it. A stopped process goes on, to end.
  package func stop() async {
    let processes = agents + [relay]
    for process in processes {
      process.stop()
      process.signal(SIGCONT)
    }
    let ending = Task {
      try await Task.sleep(for: .seconds(Self.stopLimit))
      for process in processes { process.signal(SIGKILL) }
    }
    for task in tasks.withLock({ $0 }) { _ = try? await task.value }
    ending.cancel()
  }

  /// Does the work and ends everything after it: when it is done, when it fails, and at Ctrl-C or SIGTERM.
  package func stopping(after work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let signals = Interrupts.handle { _ in task.cancel() }
    let result = await task.result
    await stop()
    for source in signals { source.cancel() }
    guard !task.isCancelled else {
      throw ClusterError("Interrupted; everything is stopped.")
    }
    try result.get()
  }

  /// Runs relayctl with these arguments, and returns what it prints.
  @discardableResult
  package func relayctl(_ arguments: String..., typing input: String = "") async throws -> String {
    try await relayctl(arguments, typing: input)
  }

  @discardableResult
  private func relayctl(_ arguments: [String], typing input: String = "") async throws -> String {
    let result = try await run(
      .path(FilePath(Layout.program("relayctl"))), arguments: Arguments(arguments),
      input: .string(input), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    guard result.terminationStatus.isSuccess else {
      throw ClusterError(
        "relayctl \(arguments[0]) failed: \(result.standardError)\(result.standardOutput)"
      )
    }
    return result.standardOutput
  }

  /// Looks every 20 ms whether it is so.
  ///
  /// - Throws: `ClusterError` when it is not so in time.
  package func wait(
    _ what: String, _ isSo: () async throws -> Bool
  ) async throws {
    let end = Date().addingTimeInterval(Self.patience)
    while try await !isSo() {
      guard Date() < end else {
        throw ClusterError(
          "Waited \(Int(Self.patience)) s for \(what). See \(layout.root.path)/logs.")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
