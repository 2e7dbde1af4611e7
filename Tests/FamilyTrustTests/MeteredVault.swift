import FamilyCore
import FamilyModel
import FamilyTrust
import Synchronization

/// A device's vault that counts the expensive operations, and refuses one reader.
struct MeteredVault: DeviceVault {
  struct Counts: Sendable {
    var verified = 0
    var unwrapped = 0
  }

  final class Counter: Sendable {
    private let counts = Mutex(Counts())
    var value: Counts { counts.withLock { $0 } }
    func count(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }
  }

  let vault: KeyVault
  let counter = Counter()
  /// A reader for which wrapping fails.
  var refused: [UInt8]?

  init(_ keys: DeviceKeys) { vault = KeyVault(keys) }

  var agreementKey: [UInt8] { vault.agreementKey }
  func sign(_ bytes: [UInt8]) -> [UInt8] { vault.sign(bytes) }
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    counter.count { $0.verified += 1 }
    return vault.verify(publicKey, signature, bytes)
  }
  func makeKey() -> [UInt8] { vault.makeKey() }
  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    reader == refused ? nil : vault.wrap(key, for: reader, binding: binding)
  }
  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    counter.count { $0.unwrapped += 1 }
    return vault.unwrap(wrapped, binding: binding)
  }
  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    vault.seal(content, name, key, binding: binding)
  }
  func keyName(of content: Content) -> ContentKeyID? { vault.keyName(of: content) }
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    vault.open(content, key, binding: binding)
  }
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { vault.digest(bytes, under: key) }
  func bytes(of content: Content) -> [UInt8] { vault.bytes(of: content) }
}
