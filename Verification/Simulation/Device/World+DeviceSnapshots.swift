import FamilyCore
import FamilyModel

/// Snapshots of running devices.
extension World {
  /// Makes a snapshot from the device's disk, as an agent does from its store. The device continues
  /// meanwhile.
  func makeSnapshot(_ number: UInt64, of device: SimulatedDevice, _ index: Int) {
    let copy = restored(device, device.disk.records().withoutCovered, IDSource(seed: 1))
    queue.schedule(
      .snapshotMade(index, life: device.life, number, copy.link.newSnapshot),
      at: now + .milliseconds(700))
  }

  func madeSnapshot(_ index: Int, _ life: Int, _ number: UInt64, _ snapshot: [UInt8]?) {
    let device = devices[index]
    if snapshot != nil { reach(.snapshotOfRunningDevice) }
    if device.plan.isGuardians {
      guardian(index, life: life, .snapshotMade(number, snapshot))
    } else {
      child(index, life: life, .snapshotMade(number, snapshot))
    }
  }
}
