import Credentials
import FamilyModel
import Foundation
import History
import RelayClient
import Synchronization

extension Nemesis {
  /// Posts a text in each affected family, without the proxies, and waits until all affected
  /// devices have it.
  ///
  /// - Returns: Seconds from the fault's end to the recovery; `nil` after a timeout.
  func recovery(of injected: InjectedFault) async -> Double? {
    let agents = Set(injected.victims.map { $0.replacingOccurrences(of: "*", with: "") })
    let isRelay = agents.contains("relay")
    let victims = devices.filter { isRelay || agents.contains($0.agent) }
    let families = Set(victims.map(\.credential.address.family)).sorted()
    let end = recorder.now + patience
    let workers = (chaosCluster.crowd?.plan.names ?? []).enumerated().filter {
      isRelay || agents.contains($0.element)
    }.map(\.offset)
    let times = await withTaskGroup(of: Double?.self) { group in
      for family in families {
        let wanted = Set(victims.map(\.credential.address).filter { $0.family == family })
        group.addTask { await self.probe(family, wanted, until: end) }
      }
      for worker in workers { group.addTask { await self.probeCrowd(worker, until: end) } }
      return await group.reduce(into: [Double?]()) { $0.append($1) }
    }
    if times.contains(nil) {
      if !Task.isCancelled {
        log.addFinding(
          "\(injected.fault.kind.rawValue) of \(injected.victims) at \(Int(injected.from - begin)) s: "
            + "no recovery in time: \(lastProbeFailure.withLock { $0 })")
      }
      return nil
    }
    return times.compactMap { $0 }.max().map { $0 - injected.to }
  }

  /// Waits until the devices of a worker's sample hold everything that the relay holds now.
  private func probeCrowd(_ worker: Int, until end: Double) async -> Double? {
    guard let crowd = chaosCluster.crowd, let sample = try? crowd.sample(worker) else { return nil }
    let (name, family) = (crowd.plan.names[worker], crowd.plan.sample(worker))
    var heads: [UInt32: UInt64] = [:]
    while recorder.now < end, !Task.isCancelled {
      do {
        if heads.isEmpty { heads = try await self.heads(of: sample) }
        let positions = crowd.status(worker)?.samples ?? []
        let isRecovered = heads.allSatisfy { device, head in
          positions.contains { $0.device == device && $0.position >= head }
        }
        if isRecovered { return recorder.now }
        lastProbeFailure.withLock { $0 = "\(name) lacks events of family \(family)" }
      } catch {
        lastProbeFailure.withLock { $0 = "\(error)" }
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
    return nil
  }

  /// The sums of the heads of each device's audiences, read beside the proxies.
  private func heads(of credentials: [Credential]) async throws -> [UInt32: UInt64] {
    let requests = chaosCluster.requests
    return try await blocking {
      var heads: [UInt32: UInt64] = [:]
      for var credential in credentials {
        credential.requests = requests
        var client = try DeviceClient(credential)
        heads[credential.address.device.rawValue] = try client.heads()
          .reduce(0) { $0 + $1.delivered }
      }
      return heads
    }
  }

  private func probe(_ family: FamilyID, _ wanted: Set<DeviceAddress>, until end: Double) async
    -> Double?
  {
    let members = devices.map(\.credential).filter { $0.address.family == family }
    guard var guardian = members.first(where: { $0.role.isGuardian }),
      let child = members.first(where: { $0.role == .child })
    else { return nil }
    guardian.requests = chaosCluster.requests
    let (credential, recorder) = (guardian, recorder)
    while recorder.now < end, !Task.isCancelled {
      let posted: UInt64
      do {
        posted = try await blocking {
          var client = try DeviceClient(credential)
          let posted = try client.send(.post(child: child.personID, .text("recovery probe")))
          recorder.record(.acknowledged(credential.address, posted.id, seq: posted.seq))
          return posted.seq
        }
      } catch {
        lastProbeFailure.withLock { $0 = "\(error)" }
        try? await Task.sleep(for: .milliseconds(50))
        continue
      }
      // A restored copy may lack the text. Post it again then.
      let history = await observer.histories
      while recorder.now < end, !Task.isCancelled, await observer.histories == history {
        let reached = await observer.devices(of: wanted, with: posted)
        if reached == wanted { return recorder.now }
        let lacking = wanted.subtracting(reached).sorted().map(\.device.rawValue)
        lastProbeFailure.withLock {
          $0 = "devices \(lacking) of family \(family.rawValue) lack the probe"
        }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
    return nil
  }
}
