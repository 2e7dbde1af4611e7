import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// A relay and the agents of some families, as processes that are restarted when they die.
final class RunningCluster: Sendable {
  /// The app on each child's device.
  static let app = "example.landmarks"
  /// Seconds that a start may take.
  static let startLimit = 60.0

  let layout: Layout
  let relay: Managed
  let agents: [Managed]
  private let tasks: Mutex<[Task<Void, any Error>]> = Mutex([])

  /// A cluster of these families, not started.
  init(_ layout: Layout, _ file: FamilyFile) throws {
    self.layout = layout
    try layout.prepare()
    try file.write(to: layout.families)
    relay = Managed(
      "relay", Layout.program("relay"), ["--directory", layout.relay.path],
      log: layout.log("relay"))
    let layout = layout
    agents = file.families.flatMap { family in
      ["child-agent", "parent-agent"].flatMap { kind -> [Managed] in
        if kind == "child-agent" { return [Self.agent(kind, family.id, nil, layout)] }
        return family.members.filter { ["organizer", "guardian"].contains($0.role) }
          .map { Self.agent(kind, family.id, $0.name, layout) }
      }
    }
  }

  private static func agent(
    _ kind: String, _ family: UInt64, _ member: String?, _ layout: Layout
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
    if kind == "child-agent" {
      arguments += [
        "--app", "\(app)=\(Layout.program("app-agent"))",
        "--manifest",
        "\(app)=\(Layout.program("permission-relay_app-agent.resources"))/manifest.json",
      ]
    }
    return Managed(name, Layout.program(kind), arguments, log: layout.log(name))
  }

  func agent(_ name: String) -> Managed { agents.first { $0.name == name }! }

  /// Makes the relay's keys and the families, and starts everything. Returns when all is connected.
  func start(_ progress: (String) -> Void = { _ in }) async throws {
    progress("making the relay's keys")
    try await relayctl("init", "--directory", layout.relay.path)
    launch(relay)
    progress("making the families and their devices' keys")
    try await relayctl(
      "apply", layout.families.path, "--directory", layout.relay.path, "--credentials",
      layout.credentials.path)
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

  /// Ends everything, agents first, and waits for it.
  func stop() async {
    for process in agents + [relay] { process.stop() }
    for task in tasks.withLock({ $0 }) { _ = try? await task.value }
  }

  /// Runs relayctl with these arguments, and returns what it prints.
  @discardableResult
  func relayctl(_ arguments: String..., typing input: String = "") async throws -> String {
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
  func wait(
    _ what: String, seconds: Double = startLimit, _ isSo: () async throws -> Bool
  ) async throws {
    let end = Date().addingTimeInterval(seconds)
    while try await !isSo() {
      guard Date() < end else {
        throw ClusterError("Waited \(Int(seconds)) s for \(what). See \(layout.root.path)/logs.")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
