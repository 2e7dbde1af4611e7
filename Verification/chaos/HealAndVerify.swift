import Credentials
import FamilyCore
import DeviceAgent
import FamilyModel
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
    return nil
  }

  /// Records the contents of all stores.
  ///
  /// Precondition: no process of the cluster runs.
  func read() throws {
    var opened: [FamilyID: [UInt64: Event]] = [:]
    for (agent, credential) in devices {
      let store = try SQLiteAgentStore(
        path: chaosCluster.layout.agent(agent).appendingPathComponent("agent.sqlite").path)
      defer { store.close() }
      let prefix = credential.address.recordKeyPrefix
      let records = try store.load(prefix: prefix).map {
        try DeviceRecord.decode(key: Array($0.key.dropFirst(prefix.count)), value: $0.value)
      }
      let machine = GuardianMachine(
        credential.address, of: credential.personID, security: credential.security,
        restoring: records, ids: IDSource(seed: 0))
      for event in machine.link.restored {
        opened[credential.address.family, default: [:]][event.seq] = event
      }
      recorder.record(Self.facts(of: machine, records))
      recorder.record([.views(credential.address, FamilyView(of: machine.link))])
      if credential.role == .child { try readApp(credential) }
    }
    let store = try SQLiteEventStore(
      path: chaosCluster.layout.relay.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    for family in Set(devices.map(\.credential.address.family)).sorted() {
      // The relay's events are sealed; the devices hold them opened.
      let events = try store.load(family).events.map { try Event.decode($0.payload) }
      recorder.record(events.map { .stored(family, opened[family]?[$0.seq] ?? $0) })
      // Devices use no channels at rest.
      recorder.record([.relayViews(family, FamilyView(ofLog: events) { _, _ in 0 })])
    }
    recorder.record(.storeRead)
  }

  private static func facts(of machine: GuardianMachine, _ records: [DeviceRecord]) -> [Fact] {
    let address = machine.link.address
    var seqs: [Audience: [UInt64]] = [:]
    for case .event(let event) in records { seqs[event.audience, default: []].append(event.seq) }
    var facts: [Fact] = records.compactMap { record in
      guard case .cursor(let cursor) = record else { return nil }
      return .restored(
        address, cursor.audience, (seqs[cursor.audience] ?? []).sorted(),
        cursor: cursor.delivered)
    }
    for child in machine.link.conversations.keys.sorted() {
      for state in machine.link.conversations[child]!.inOrder {
        if case .answered(let choice, _, _) = state.phase {
          facts.append(.decided(address, state.header.id, choice: choice.id))
        }
      }
    }
    return facts
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
