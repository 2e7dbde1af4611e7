public import FamilyModel

/// A device's cryptography: its keys and their operations. The machines have no cryptography of
/// their own.
public protocol DeviceVault: EvidenceVault {
  /// The device's X25519 public key.
  var agreementKey: [UInt8] { get }
  /// The device's Ed25519 signature of the bytes.
  func sign(_ bytes: [UInt8]) -> [UInt8]
  /// Generates a content key of 32 random bytes.
  func makeKey() -> [UInt8]
  /// The content key sealed for the device with this X25519 public key and bound to `binding`;
  /// `nil` for an invalid public key.
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]?
  /// The content key that was sealed for this device; `nil` for another device or binding.
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]?
  /// The content sealed under a key derived from a content key, and bound to `binding`. `name`
  /// names the content key.
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content
  /// The name of the content key; `nil` for bytes that no vault sealed.
  func keyName(of content: Content) -> ContentKeyID?
}
