import Credentials
import FamilyModel
import FaultNetwork
import Foundation
import ProcessCluster
import RelayStore
import SQLiteStore

/// The cluster under test with its fault injectors: proxies, shim controls and disks.
final class ChaosCluster: Sendable {
  /// The environment variable that marks all processes of a run for the clean-up.
  static let runVariable = "CHAOS_RUN"
  /// The delay of a slow guardian's answer, in milliseconds.
  static let slowAnswer = 2_000
  /// The passcode of every family.
  static let passcode = "258013"

  let layout: Layout
  let families: ClusterFamilies
  let cluster: RunningCluster
  let proxy: FaultProxy
  /// The links to the relay's two sockets, by agent.
  let links: [String: [ProxyLink]]
  let controls: [String: Control]
  let mutant: Mutant?
  /// The power of each process's disk.
  let power: [String: PowerLoss]
  /// The relay's request endpoint without a proxy.
  let requests: String
  /// The families that keep the relay busy; `nil` without any.
  let crowd: Crowd?

  init(
    _ layout: Layout, families: Int, crowd: Crowd?, mutant: Mutant?, versions: Versions?
  ) async throws {
    self.layout = layout
    self.crowd = crowd
    self.mutant = mutant
    try layout.prepare()
    let file = Self.families(families)
    self.families = file
    let names = ["relay"] + file.agents + (crowd?.plan.names ?? [])
    let ports = try FreePorts.pair()
    requests = "tcp://127.0.0.1:\(ports.0)"
    let broadcasts = "tcp://127.0.0.1:\(ports.1)"
    let proxy = FaultProxy()
    var links: [String: [ProxyLink]] = [:]
    for name in names where name != "relay" {
      links[name] = [try await proxy.link(to: ports.0), try await proxy.link(to: ports.1)]
    }
    let folder = layout.root.appendingPathComponent("chaos")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var controls: [String: Control] = [:]
    var power: [String: PowerLoss] = [:]
    for name in names {
      controls[name] = try Control(folder.appendingPathComponent("\(name).control"))
      power[name] = PowerLoss(journal: folder.appendingPathComponent("\(name).journal"))
    }
    self.proxy = proxy
    self.links = links
    self.controls = controls
    self.power = power
    for name in file.agents { try Self.script(name, layout) }

    var configuration = RunningCluster.Configuration()
    configuration.initArguments = ["--requests", requests, "--broadcasts", broadcasts]
    configuration.relayArguments = ["--requests", requests, "--broadcasts", broadcasts]
    // With one shard on a small machine, a shard would have no other one to work beside.
    if crowd != nil { configuration.relayArguments += ["--shards", "2"] }
    configuration.agentArguments = ["--trace-all"]
    let disks = power
    configuration.environment = { name in
      var variables = Self.environment(name, layout)
      variables["CHAOS_JOURNAL"] = disks[name]?.journal.path
      return variables.merging(mutant?.environment(name) ?? [:]) { $1 }
    }
    configuration.prepare = { name in
      try disks[name]?.absorbJournal()
      if mutant == .noOutbox, name != "relay" {
        try Mutant.deleteOutboxes(in: layout.agent(name))
        try disks[name]?.markSynced()
      }
    }
    if let versions {
      configuration.program = { versions.program($0, $1, start: $2) }
    }
    let map = links.mapValues { $0.map(\.port) }
    configuration.prepareAgents = {
      try Redirection.redirect(credentialsIn: layout.credentials, to: map)
      try crowd?.found()
    }
    configuration.extraProcesses = crowd?.processes(map) ?? []
    cluster = try RunningCluster(layout, file, configuration)
  }

  /// The environment that configures the shim of a process and of its children.
  static func environment(_ name: String, _ layout: Layout) -> [String: String] {
    [
      "LD_PRELOAD": Layout.program("libChaosShim.so"), runVariable: layout.root.path,
      "CHAOS_CONTROL": layout.root.appendingPathComponent("chaos/\(name).control").path,
      "CHAOS_DISK": disk(name, layout).path,
    ]
  }

  /// The folder of a process's stores.
  static func disk(_ name: String, _ layout: Layout) -> URL {
    name == "relay" ? layout.relay : layout.agent(name)
  }

  /// Families of two guardians and a child. Every second child has two devices.
  private static func families(_ count: Int) -> ClusterFamilies {
    var file = ClusterFamilies.example(count)
    for index in file.families.indices where index % 2 == 0 {
      for member in file.families[index].members.indices
      where file.families[index].members[member].role == "child" {
        file.families[index].members[member].devices = 2
      }
    }
    return file
  }

  /// Writes an agent's script. The handle of a question encodes the people's actions: see
  /// `Workload.Ask`.
  private static func script(_ name: String, _ layout: Layout) throws {
    var rules: [[String: Any]]
    if name.hasPrefix("child") {
      rules = [
        ["handle": "-person-", "permission": "inPerson", "passcode": passcode],
        ["handle": "-open-", "again": "remind"],
      ]
    } else {
      let isAlex = name.hasSuffix("alex")
      rules = [
        ["handle": "-race-", "choose": isAlex ? "decline" : "approve", "review": !isAlex],
        ["handle": "-slow-", "choose": isAlex ? "ignore" : "approve", "delay": Self.slowAnswer],
      ]
      let own = isAlex ? "alex" : "other"
      rules += [
        ["handle": "-yes-\(own)-", "choose": "approve", "review": true],
        ["handle": "-no-\(own)-", "choose": "decline"],
        ["handle": "-day-\(own)-", "choose": "day", "review": true],
      ]
    }
    let file = layout.scripts.appendingPathComponent("\(name).json")
    try JSONSerialization.data(withJSONObject: ["rules": rules + [["choose": "ignore"]]])
      .write(to: file)
  }

  /// All devices with the agents that host them.
  func devices() throws -> [(agent: String, credential: Credential)] {
    try FileManager.default.contentsOfDirectory(
      at: layout.credentials, includingPropertiesForKeys: nil
    )
    .filter { $0.lastPathComponent.hasPrefix("family-") }
    .map { try Credential.read(from: $0) }
    .sorted { $0.address < $1.address }
    .map { (Redirection.agent(of: $0), $0) }
  }

  func process(_ name: String) -> SupervisedProcess {
    name == "relay" ? cluster.relay : cluster.agent(name)
  }
}
