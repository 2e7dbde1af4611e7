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
    let times = await withTaskGroup(of: Double?.self) { group in
      for family in families {
        let wanted = Set(victims.map(\.credential.address).filter { $0.family == family })
        group.addTask { await self.probe(family, wanted, until: end) }
      }
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
      while recorder.now < end, !Task.isCancelled {
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
