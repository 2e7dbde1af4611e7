import FamilyCore
import FamilyModel
import RelayWire

/// Cryptography that a fuzzer can forge: a signature is valid if its first byte is 1, and nothing
/// is encrypted.
struct FuzzVault: DeviceVault {
  let agreementKey: [UInt8]

  /// The security state of a device of ``FuzzedFamily``.
  static func security(_ device: UInt32) -> Security {
    Security(
      FuzzVault(agreementKey: FuzzedFamily.key(device)), organizerKey: FuzzedFamily.key(10))
  }

  func sign(_ bytes: [UInt8]) -> [UInt8] { Array(repeating: 1, count: 64) }
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    signature.first == 1
  }
  func makeKey() -> [UInt8] { Array(repeating: 7, count: 32) }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? { key }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    wrapped.count == 32 ? wrapped : nil
  }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    .sealed(name.bytes + bytes(of: content))
  }
  func keyName(of content: Content) -> ContentKeyID? {
    guard case .sealed(let bytes) = content else { return nil }
    return ID128(bytes: bytes.prefix(16))
  }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    guard case .sealed(let bytes) = content else { return nil }
    return try? Content.sealed(Array(bytes.dropFirst(16))).opened()
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { [1] }
  func bytes(of content: Content) -> [UInt8] { content.bytes }
}
