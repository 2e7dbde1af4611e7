/// The keys with which a device verifies events and opens sealed content.
public struct Security: Sendable {
  /// The device's own keys, and the operations on them.
  public var vault: any DeviceVault
  /// The organizer's Ed25519 public key. The chain of rosters starts from it.
  public var organizerKey: [UInt8]
  /// Creates the security of one device from its credential.
  public init(_ vault: any DeviceVault, organizerKey: [UInt8]) {
    self.vault = vault
    self.organizerKey = organizerKey
  }
}
