/// The keys with which a device verifies events and opens sealed content.
public struct Security: Sendable {
  /// The device's own keys, and the operations on them.
  public var vault: any DeviceVault
  /// The organizer's Ed25519 public key. The chain of rosters starts from it.
  public var organizerKey: [UInt8]
  /// The means to make and read snapshots; `nil`: each start replays all events.
  public var snapshots: Snapshots?
  /// Creates the security of one device from its credential.
  public init(
    _ vault: any DeviceVault, organizerKey: [UInt8], snapshots: Snapshots? = nil
  ) {
    self.vault = vault
    self.organizerKey = organizerKey
    self.snapshots = snapshots
  }
}
