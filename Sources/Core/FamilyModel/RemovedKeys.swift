/// The signing keys of devices that left a family. No later roster may contain one of them.
///
/// The relay, devices and apps derive the keys from the family's rosters, and apply the same rule. A
/// device that returns makes new keys and needs a new invitation.
public struct RemovedKeys: Hashable, Sendable {
  /// The keys, in order of their removal.
  public private(set) var keys: [[UInt8]]

  /// Creates the record of a family that has removed these keys.
  public init(_ keys: [[UInt8]] = []) { self.keys = keys }

  /// Whether a roster has removed the key.
  public func contains(_ key: [UInt8]) -> Bool { keys.contains(key) }

  /// Records the keys that the next roster removes.
  public mutating func record(from roster: Roster, to next: Roster) {
    let kept = Set(next.devices.map(\.signingKey))
    for device in roster.devices
    where !device.signingKey.isEmpty && !kept.contains(device.signingKey)
      && !contains(device.signingKey)
    {
      keys.append(device.signingKey)
    }
  }

  /// Checks the next roster.
  ///
  /// - Throws: `keyRemoved` if the roster contains a removed key; `tooMany` if it adds a device to a
  ///   family that has had ``Limits/formerDevices`` before.
  public func check(_ roster: Roster, next: Roster) throws(Problem) {
    let present = Set(roster.devices.map(\.signingKey))
    let added = next.devices.map(\.signingKey).filter { !$0.isEmpty && !present.contains($0) }
    guard !added.contains(where: contains) else { throw .keyRemoved }
    guard added.isEmpty || keys.count < Limits.formerDevices else { throw .tooMany }
  }
}
