import DeviceTurn
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayStore

extension AgentStore {
  /// The least time between two erasures, because each one reads all records.
  private static var interval: Milliseconds { .days(1) }

  /// Erases old contents of a device, and those of removed persons, in one transaction.
  ///
  /// Erases nothing within a day of the last erasure, unless contents stay for a shorter time now.
  ///
  /// - Returns: The number of events that lost their contents.
  func eraseContents(of device: DeviceAddress, endedBy end: Instant) throws -> Int {
    if let last = try lastErasure(of: device), end < last + Self.interval { return 0 }
    let changes = DeviceErasure.changes(
      of: try recordsWithoutSnapshot(of: device), in: device.family, endedBy: end,
      digest: KeyVault.digest)
    let prefix = device.recordKeyPrefix
    let age = withUnsafeBytes(of: end.milliseconds.bigEndian) { Array($0) }
    try apply(
      changes.map { Change($0, under: prefix) } + [Change(key: device.erasureKey, value: age)])
    return changes.count { if case .put = $0 { true } else { false } }
  }

  private func lastErasure(of device: DeviceAddress) throws -> Instant? {
    guard let age = try load(prefix: device.erasureKey).first?.value, age.count == 8 else {
      return nil
    }
    return Instant(milliseconds: age.reduce(0) { $0 << 8 | Int64($1) })
  }
}
