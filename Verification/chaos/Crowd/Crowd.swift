import Credentials
import FamilyModel
import Foundation
import LoadFamilies
import ProcessCluster
import RelayClient

/// Many families on a few worker processes, whose people keep the relay busy during a run.
struct Crowd: Sendable {
  let plan: CrowdPlan
  /// The people's actions per second on all workers.
  let rate: Double
  let layout: Layout

  private var folder: URL { layout.root.appendingPathComponent("chaos") }

  /// The file whose existence stops the people.
  private var rest: URL { folder.appendingPathComponent("rest") }

  func journal(_ worker: Int) -> URL {
    folder.appendingPathComponent("\(plan.names[worker]).facts")
  }

  func stopPeople() throws { try Data().write(to: rest) }

  /// Creates the families at the relay. Their organizers sign the first rosters.
  func found() throws {
    let credential = try relay()
    var administrator = try Administrator(credential)
    let commands = try plan.factory.signFoundingCommands(plan.range, relay: credential)
    try administrator.sendAll(commands) { _ in }
  }

  private func relay() throws -> AdministratorCredential {
    try AdministratorCredential.read(from: AdministratorCredential.file(in: layout.relay))
  }

  /// The workers as processes of the cluster. `ports` are those of a worker's proxies.
  func processes(_ ports: [String: [Int]]) -> [RunningCluster.ExtraProcess] {
    plan.names.enumerated().map { number, name in
      let ports = ports[name]!.map { "tcp://127.0.0.1:\($0)" }
      return RunningCluster.ExtraProcess(
        name: name, program: Layout.program("chaos"),
        arguments: [
          CrowdWorker.name, "--directory", layout.agent(name).path, "--relay", layout.relay.path,
          "--requests", ports[0], "--broadcasts", ports[1], "--facts", journal(number).path,
          "--rest", rest.path, "--seed", "\(plan.seed)", "--families", "\(plan.families)",
          "--workers", "\(plan.workers)", "--number", "\(number)",
          "--rate", "\(rate / Double(plan.workers))",
        ])
    }
  }

  /// All devices with the workers that host them, without the workers' endpoints.
  func devices() throws -> [(agent: String, credential: Credential)] {
    let names = plan.names
    return plan.factory.credentials(plan.range, relay: try relay()).map {
      (names[plan.worker(of: $0.address)], $0)
    }
  }

  /// The devices from which a worker's recovery is measured.
  func sample(_ worker: Int) throws -> [Credential] {
    let family = plan.sample(worker)
    return plan.credentials(worker, family...family, relay: try relay())
  }

  func status(_ worker: Int) -> CrowdStatus? {
    CrowdStatus.read(in: layout.agent(plan.names[worker]))
  }

  /// The first unfinished work; `nil` without any.
  func unfinishedWork(_ cluster: RunningCluster) -> String? {
    for (number, name) in plan.names.enumerated() {
      guard let status = status(number), status.process == cluster.agent(name).pid else {
        return "\(name) is down"
      }
      if let unfinished = status.unfinished { return "\(name): \(unfinished)" }
    }
    return nil
  }
}
