import Crypto
package import FamilyModel
import Foundation

/// Seals the relay's part of a family's passcode for the relay's store.
///
/// The key comes from the relay's key file. A copy of the store without this file, such as a backup,
/// therefore allows no guess of a passcode. Under another key file the lock does not open: the
/// passcode is then outdated, and a guardian sets a new one.
package struct PasscodeLockCipher: Sendable {
  private let key: SymmetricKey

  /// Creates a cipher from ``RelayKeys/channelSecret``.
  package init(secret: [UInt8]) {
    key = SymmetricKey(for: "passcode locks", of: secret)
  }

  /// Seals the bytes of a lock for its family.
  package func seal(_ lock: [UInt8], of family: FamilyID) -> [UInt8] {
    // Fails only above 64 GiB and for keys of another size.
    guard let box = try? AES.GCM.seal(lock, using: key, authenticating: Self.binding(family)),
      let bytes = box.combined
    else { preconditionFailure("AES-GCM seals every lock") }
    return Array(bytes)
  }

  /// Opens the sealed bytes; `nil` for bytes of another relay or family.
  package func open(_ sealed: [UInt8], of family: FamilyID) -> [UInt8]? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let lock = try? AES.GCM.open(box, using: key, authenticating: Self.binding(family))
    else { return nil }
    return Array(lock)
  }

  private static func binding(_ family: FamilyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay passcode lock 1")
    bytes.add(family.rawValue)
    return bytes.bytes
  }
}
