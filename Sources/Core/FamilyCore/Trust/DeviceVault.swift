public import FamilyModel

/// The cryptography that needs no keys of one's own: what an app has.
public protocol EvidenceVault: Sendable {
  /// Whether the signature is of the bytes, by whoever has this Ed25519 public key.
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool
  /// What the sealed content says; `nil` where key or binding are others, or where it says nothing.
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content?
  /// A digest of the bytes that nobody can check who has not the key: 32 bytes.
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8]
  /// The content's bytes as they travel.
  func bytes(of content: Content) -> [UInt8]
}

extension EvidenceVault {
  /// A digest that anybody can make.
  func digest(_ bytes: [UInt8]) -> [UInt8] { digest(bytes, under: []) }
}

/// The cryptography of one device: its keys, and what they can do. The machines have none of their own.
public protocol DeviceVault: EvidenceVault {
  /// The device's X25519 public key.
  var agreementKey: [UInt8] { get }
  /// An Ed25519 signature of the bytes, by this device.
  func sign(_ bytes: [UInt8]) -> [UInt8]
  /// A random content key of 32 bytes.
  func makeKey() -> [UInt8]
  /// The key sealed for the reader of this X25519 public key, bound to `binding`; `nil` for what is no key.
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]?
  /// The key that was sealed for this device, if it was, and bound to `binding`.
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]?
  /// The content sealed under a key that follows from the one of this name, bound to `binding`.
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content
  /// The name of the key that the content is sealed under; `nil` for what was not sealed by a vault.
  func keyName(of content: Content) -> ContentKeyID?
}
