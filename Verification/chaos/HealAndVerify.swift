import Credentials
import FamilyCore
import FamilyModel
import FaultNetwork
import Foundation
import History
import ProcessCluster
import RelayClient
import RelayStore
import RelayWire
import SQLiteStore

/// The end of a run: ends all faults, waits for convergence and reads all stores.
struct HealAndVerify {
  let chaosCluster: ChaosCluster
  let recorder: Recorder
  let devices: [(agent: String, credential: Credential)]
  /// Seconds within which the system must converge.
  let patience: Double

  /// Ends all faults.
  func heal() {
    for control in chaosCluster.controls.values { control.heal() }
    for link in chaosCluster.links.values.flatMap({ $0 }) { link.set { $0 = ProxyLink.Faults() } }
    for pid in OrphanReaper.processes(of: chaosCluster.layout.root.path) { kill(pid, SIGCONT) }
    recorder.record(.healed)
  }

  /// Waits until every device is up to date and no work is unfinished.
  ///
  /// A slow guardian may still answer, so two checks in a row must succeed.
  ///
  /// - Returns: The unfinished work after a timeout; `nil` after convergence.
  func waitForConvergence() async -> String? {
    let end = recorder.now + patience
    var unfinished = "no check was made"
    var isRepeated = false
    while recorder.now < end, !Task.isCancelled {
      if let found = await unfinishedWork() {
        (unfinished, isRepeated) = (found, false)
        try? await Task.sleep(for: .milliseconds(200))
      } else if isRepeated {
        recorder.record(.converged)
        return nil
      } else {
        (unfinished, isRepeated) = ("only one check succeeded", true)
        try? await Task.sleep(for: .milliseconds(2 * ChaosCluster.slowAnswer))
      }
    }
    recorder.record(.notConverged(unfinished))
    return unfinished
  }

  /// Describes the first unfinished work; `nil` without any.
  private func unfinishedWork() async -> String? {
    for (agent, credential) in devices {
      let address = credential.address
      let name = "device \(address.device.rawValue) of family \(address.family.rawValue)"
      guard chaosCluster.process(agent).pid != nil,
        let status = Status.read(chaosCluster.layout, agent)?.devices.first(where: {
          $0.family == address.family.rawValue && $0.device == address.device.rawValue
        })
      else { return "\(name) is down" }
      guard status.relay == "connected" else { return "\(name) is not connected" }
      guard status.outbox == 0 else { return "\(name) has \(status.outbox) commands to send" }
      guard status.unacknowledged == 0 else {
        return "apps on \(name) have not acknowledged \(status.unacknowledged) entries"
      }
      var direct = credential
      direct.requests = chaosCluster.requests
      let directCredential = direct
      let heads = try? await blocking {
        var client = try DeviceClient(directCredential)
        return try client.heads().reduce(0) { $0 + $1.delivered }
      }
      guard let heads else { return "the relay does not answer" }
      guard status.position == heads else { return "\(name) lacks events" }
    }
    return chaosCluster.crowd?.unfinishedWork(chaosCluster.cluster)
  }

  /// Records the contents of all stores.
  ///
  /// Precondition: no process of the cluster runs.
  func read() throws {
    var opened: [FamilyID: OpenedEvents] = [:]
    for (agent, credential) in devices {
      let store = try SQLiteAgentStore(
        path: chaosCluster.layout.agent(agent).appendingPathComponent("agent.sqlite").path)
      defer { store.close() }
      let records = try store.records(of: credential.address)
      let family = credential.address.family
      recorder.record(Fact.holdings(of: credential, records, &opened[family, default: [:]]))
      if credential.role == .child { try readApp(credential) }
    }
    let store = try SQLiteEventStore(
      path: chaosCluster.layout.relay.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    for family in Set(devices.map(\.credential.address.family)).sorted() {
      recorder.record(Fact.log(of: family, try store.log(of: family), opened[family] ?? [:]))
    }
    recorder.record(.storeRead)
  }

  private func readApp(_ credential: Credential) throws {
    let address = credential.address
    let folder = chaosCluster.layout.appFolder(
      family: address.family.rawValue, device: address.device.rawValue)
    let store = try SQLiteAgentStore(
      path: folder.appendingPathComponent("permissionkit.sqlite").path)
    defer { store.close() }
    var known: [Handle] = []
    var named: [Handle] = []
    for record in try store.load(prefix: []) {
      switch try AppRecord.decode(key: record.key, value: record.value) {
      case .known(let handle): known.append(handle)
      case .named(let handle): named.append(handle)
      default: break
      }
    }
    let app = AppAddress(address, AppID(RunningCluster.app))
    recorder.record(.names(app, known))
    recorder.record(.knows(app, known, named: named))
  }
}
