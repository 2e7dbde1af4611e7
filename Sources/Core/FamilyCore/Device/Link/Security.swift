/// By what a device believes, and reads what is sealed.
public struct Security: Sendable {
  /// The device's keys, and what they can do.
  public var vault: any DeviceVault
  /// The Ed25519 key that the family's first roster is signed with.
  public var organizerKey: [UInt8]
  /// What a credential holds.
  public init(_ vault: any DeviceVault, organizerKey: [UInt8]) {
    self.vault = vault
    self.organizerKey = organizerKey
  }
}
