import DequeModule
import DeviceTurn
import FamilyCore
import FamilyModel

/// Snapshots of running devices.
extension AgentHost {
  /// Makes a device's snapshot in the background, after those that were requested earlier.
  func makeSnapshot(_ number: UInt64, of address: DeviceAddress) {
    snapshotQueue.append((address, number))
    makeNextSnapshot()
  }

  /// The records are read here, so that they are those of one commit.
  private func makeNextSnapshot() {
    guard !isMakingSnapshot, let (address, number) = snapshotQueue.popFirst(),
      let credential = credential(of: address)
    else { return }
    guarded {
      let (records, snapshot) = try store.recordsAfterSnapshot(
        of: address, credential.deviceKeys.snapshots)
      isMakingSnapshot = true
      let (configuration, verified, history) = (configuration, verified, history)
      Task.detached(priority: .utility) { [weak self] in
        let device = Self.device(
          credential, records, snapshot, storage: history, configuration, verified)
        await self?.madeSnapshot(device.link.newSnapshot, number, of: address)
      }
    }
  }

  private func madeSnapshot(_ snapshot: [UInt8]?, _ number: UInt64, of address: DeviceAddress) {
    isMakingSnapshot = false
    if host.devices[address]?.child != nil {
      act(ChildMachine.Input.snapshotMade(number, snapshot), on: address)
    } else {
      act(GuardianMachine.Input.snapshotMade(number, snapshot), on: address)
    }
    trace(snapshot == nil ? "no-snapshot" : "snapshot", device: address)
    makeNextSnapshot()
  }
}
