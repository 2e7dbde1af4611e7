import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire

/// The vault of a device that is older than a kind of contents.
struct OlderVault: DeviceVault {
  let vault: KeyVault
  let knows: @Sendable (Content) -> Bool

  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    vault.open(content, key, binding: binding).map { knows($0) ? $0 : .sealed($0.bytes) }
  }

  var agreementKey: [UInt8] { vault.agreementKey }
  func sign(_ bytes: [UInt8]) -> [UInt8] { vault.sign(bytes) }
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    vault.verify(publicKey, signature, bytes)
  }
  func makeKey() -> [UInt8] { vault.makeKey() }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.wrap(key, for: reader, binding: binding)
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    vault.unwrap(wrapped, binding: binding)
  }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    vault.seal(content, name, key, binding: binding)
  }
  func keyName(of content: Content) -> ContentKeyID? { vault.keyName(of: content) }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { vault.digest(bytes, under: key) }
  func bytes(of content: Content) -> [UInt8] { vault.bytes(of: content) }
}
