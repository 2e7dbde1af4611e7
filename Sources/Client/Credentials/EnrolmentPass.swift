import Crypto
public import FamilyModel

/// Makes and verifies the relay's proofs that a key is enrolled in a family.
///
/// A device receives its pass at each attachment and sends it with the next one. The relay then knows
/// the device without a read of the store, also after a restart, so that strangers cannot use up the
/// reads that enrolled devices need. A pass gives no other right: the family's roster still decides.
public struct EnrolmentPass: Sendable {
  private let key: SymmetricKey

  /// Derives the key of the passes from the relay's secret.
  public init(secret: [UInt8]) {
    key = SymmetricKey(for: "enrolment passes", of: secret)
  }

  /// The pass of a device's CURVE key in the family, 32 bytes.
  public func pass(_ family: FamilyID, _ device: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes(family, device), using: key))
  }

  /// Whether the pass is that of the key in the family.
  public func isValid(_ pass: [UInt8], _ family: FamilyID, _ device: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(pass, authenticating: bytes(family, device), using: key)
  }

  private func bytes(_ family: FamilyID, _ device: [UInt8]) -> [UInt8] {
    var bytes = BoundBytes("permission-relay pass 1")
    bytes.add(family.rawValue)
    bytes.add(device)
    return bytes.bytes
  }
}
