import Foundation
import Processes
import Subprocess
import Synchronization
import SystemPackage

/// A relay and the agents of some families, as supervised processes.
package final class RunningCluster: Sendable {
  /// The app on each child's device.
  package static let app = ClusterApp.landmarks.identifier
  /// The timeout of ``wait(_:_:)`` in seconds, long enough for a busy machine.
  package static let timeout = 120.0

  package let layout: Layout
  package let relay: SupervisedProcess
  package let agents: [SupervisedProcess]
  private let extraProcesses: [SupervisedProcess]
  private let tasks: Mutex<[Task<Void, any Error>]> = Mutex([])

  /// A process beside the relay and the agents, which starts after them.
  package struct ExtraProcess: Sendable {
    var name: String
    var program: String
    var arguments: [String]

    /// A process with its name in the cluster, its program's path and its arguments.
    package init(name: String, program: String, arguments: [String]) {
      self.name = name
      self.program = program
      self.arguments = arguments
    }
  }

  /// Additions of a test to an ordinary cluster.
  package struct Configuration: Sendable {
    /// Additional arguments of `relayctl init`, such as the endpoints for credentials.
    package var initArguments: [String] = []
    /// Additional arguments of the relay, such as its endpoints.
    package var relayArguments: [String] = []
    /// Additional arguments of every agent.
    package var agentArguments: [String] = []
    /// Additional environment variables of a process, by its name.
    package var environment: @Sendable (String) -> [String: String] = { _ in [:] }
    /// The apps on each child's device.
    package var apps = [ClusterApp.landmarks]
    /// The family file that `relayctl apply` reads; `nil`: the cluster writes one.
    package var familyFile: String?
    /// The guardians' answer to every question; `nil`: none.
    package var answer: String?
    /// Called before each start of a process, with its name.
    package var prepare: @Sendable (String) throws -> Void = { _ in }
    /// The program of a start, by the process's name, its own program and the number of earlier
    /// starts.
    package var program: @Sendable (String, String, Int) -> String = { _, own, _ in own }
    /// Whether agents show their devices' screens to other programs, in place of a script's answers.
    package var showsScreens = false
    /// Processes that start after the agents.
    package var extraProcesses: [ExtraProcess] = []
    /// Called after the credentials are written and before any agent starts.
    package var prepareAgents: @Sendable () throws -> Void = {}
    package init() {}
  }
  private let configuration: Configuration
  private let lock: FolderLock

  /// Creates a cluster of these families without starting it.
  ///
  /// - Throws: `ClusterError` if another cluster, or processes of a killed one, run in the folder.
  package init(
    _ layout: Layout, _ file: ClusterFamilies, _ configuration: Configuration = Configuration()
  ) throws {
    self.layout = layout
    self.configuration = configuration
    try layout.prepare()
    lock = try FolderLock(layout)
    try layout.checkOrphans()
    try file.write(to: layout.families)
    relay = SupervisedProcess(
      "relay", Layout.program("relay"),
      ["--directory", layout.relay.path] + configuration.relayArguments,
      environment: configuration.environment("relay"), log: layout.log("relay"),
      prepare: configuration.prepare, program: configuration.program)
    let layout = layout
    extraProcesses = configuration.extraProcesses.map { extra in
      SupervisedProcess(
        extra.name, extra.program, extra.arguments,
        environment: configuration.environment(extra.name), log: layout.log(extra.name),
        prepare: configuration.prepare, program: configuration.program)
    }
    agents = file.families.flatMap { family in
      let guardians = family.members.filter { ["organizer", "guardian"].contains($0.role) }
      let hasApps = guardians.count < family.members.count
      return (hasApps ? [Self.agent("child-agent", family.id, nil, layout, configuration)] : [])
        + guardians.map { Self.agent("parent-agent", family.id, $0, layout, configuration) }
    }
  }

  private static func agent(
    _ kind: String, _ family: UInt64, _ member: ClusterFamilies.Member?, _ layout: Layout,
    _ configuration: Configuration
  ) -> SupervisedProcess {
    let name =
      member.map { AgentName.guardian($0.name, of: family) } ?? AgentName.child(of: family)
    let script = layout.scripts.appendingPathComponent("\(name).json")
    if member != nil, let answer = configuration.answer {
      let rules = ["rules": [["choose": answer]]]
      try? JSONEncoder().encode(rules).write(to: script)
    } else if !FileManager.default.fileExists(atPath: script.path) {
      // Without rules, children ask by message and guardians answer nothing.
      try? Data(#"{"rules": []}"#.utf8).write(to: script)
    }
    let credential =
      member.map { layout.credential(family, $0.fileName) } ?? layout.credentials
    var arguments = [
      "--credential", credential.path, "--families", "\(family)",
      "--directory", layout.agent(name).path,
    ]
    arguments += configuration.showsScreens ? ["--screen"] : ["--script", script.path]
    arguments += configuration.agentArguments
    if kind == "child-agent" {
      for app in configuration.apps {
        arguments += ["--app", "\(app.identifier)=\(app.program)"]
        if let manifest = app.manifest {
          arguments += ["--manifest", "\(app.identifier)=\(manifest)"]
        }
      }
    }
    return SupervisedProcess(
      name, Layout.program(kind), arguments, environment: configuration.environment(name),
      log: layout.log(name), prepare: configuration.prepare, program: configuration.program)
  }

  /// The agent or extra process with this name.
  package func agent(_ name: String) -> SupervisedProcess {
    (agents + extraProcesses).first { $0.name == name }!
  }

  /// Creates the relay's keys and the families, and starts all processes. Returns when all agents
  /// are connected.
  package func start(_ progress: (String) -> Void = { _ in }) async throws {
    progress("creating the relay's keys")
    try await relayctl(["init", "--directory", layout.relay.path] + configuration.initArguments)
    launch(relay)
    progress("creating the families and their devices' keys")
    try await relayctl([
      "apply", configuration.familyFile ?? layout.families.path, "--directory", layout.relay.path,
      "--credentials",
      layout.credentials.path,
    ])
    try configuration.prepareAgents()
    for agent in agents { launch(agent) }
    progress("waiting for \(agents.count) agents")
    try await wait("all agents to connect") {
      agents.allSatisfy { agent in
        guard let status = Status.read(layout, agent.name) else { return false }
        return status.devices.allSatisfy { $0.relay == "connected" && $0.position > 0 }
      }
    }
    for process in extraProcesses { launch(process) }
  }

  /// The credential files of the apps, one for each app on each device, in order.
  ///
  /// Precondition: the cluster has started.
  package var appCredentials: [String] {
    agents.filter { $0.name.hasPrefix("child-agent") }.flatMap { agent -> [String] in
      let folder = layout.agent(agent.name)
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return files.filter { $0.hasPrefix("app-") && $0.hasSuffix(".json") }.sorted()
        .map { folder.appendingPathComponent($0).path }
    }
  }

  private func launch(_ process: SupervisedProcess) {
    let task = Task { try await process.run() }
    tasks.withLock { $0.append(task) }
  }

  /// Seconds from SIGTERM to SIGKILL.
  static let stopLimit = 5.0

  /// Terminates all processes, agents first, and waits for their ends. Processes under SIGSTOP are
  /// continued.
  package func stop() async {
    let processes = extraProcesses + agents + [relay]
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

  /// Runs the work, then stops the cluster: after success, failure, SIGINT or SIGTERM.
  package func stopping(after work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let signals = Interrupts.handle { _ in task.cancel() }
    let result = await task.result
    await stop()
    for source in signals { source.cancel() }
    guard !task.isCancelled else {
      throw ClusterError("Interrupted. All processes are stopped.")
    }
    try result.get()
  }

  /// Runs relayctl with these arguments.
  ///
  /// - Returns: The standard output.
  @discardableResult
  package func relayctl(_ arguments: String..., typing input: String = "") async throws -> String {
    try await relayctl(arguments, typing: input)
  }

  @discardableResult
  package func relayctl(_ arguments: [String], typing input: String = "") async throws -> String {
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

  /// Polls the condition every 20 ms until it is true.
  ///
  /// - Throws: `ClusterError` after a timeout.
  package func wait(
    _ what: String, _ condition: () async throws -> Bool
  ) async throws {
    let end = Date().addingTimeInterval(Self.timeout)
    while try await !condition() {
      guard Date() < end else {
        throw ClusterError(
          "Waited \(Int(Self.timeout)) s for \(what). See \(layout.root.path)/logs.")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
