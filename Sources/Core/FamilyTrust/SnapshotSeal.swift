import Crypto
public import FamilyCore
import Foundation
import RelayWire

extension DeviceKeys {
  private static let snapshotPurpose = Data("permission-relay snapshot 1".utf8)

  /// The means to make and read this device's snapshots.
  ///
  /// A snapshot has opened contents and content keys. A key that is derived from the device's
  /// agreement secret seals it, so that the store reveals no more than its sealed events do.
  public var snapshots: Snapshots {
    let secret = SymmetricKey(data: agreement.rawRepresentation)
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Self.snapshotPurpose, outputByteCount: 32)
    return Snapshots(
      coding: SnapshotCoding(),
      seal: { bytes in (try? AES.GCM.seal(bytes, using: key).combined).map { [UInt8]($0) } },
      open: { sealed, read in
        guard let start = sealed.baseAddress else { return false }
        let bytes = Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: sealed.count,
          deallocator: .none)
        guard let box = try? AES.GCM.SealedBox(combined: bytes),
          let state = try? AES.GCM.open(box, using: key)
        else { return false }
        state.withUnsafeBytes(read)
        return true
      })
  }
}
