import DeviceTurn
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayStore

extension AgentStore {
  /// Erases old contents of a device, and those of removed persons, in one transaction.
  ///
  /// - Returns: The number of events that lost their contents.
  func eraseContents(of device: DeviceAddress, endedBy end: Instant) throws -> Int {
    let changes = DeviceErasure.changes(
      of: try records(of: device), in: device.family, endedBy: end, digest: KeyVault.digest)
    guard !changes.isEmpty else { return 0 }
    let prefix = device.recordKeyPrefix
    try apply(changes.map { Change($0, under: prefix) })
    return changes.count { if case .put = $0 { true } else { false } }
  }
}
