public import FamilyModel
public import Foundation

extension ID128 {
  /// The identifier with the same 16 bytes.
  public init(_ uuid: UUID) { self = withUnsafeBytes(of: uuid.uuid) { ID128(bytes: $0)! } }

  /// The identifier's 16 bytes as a UUID.
  public var uuid: UUID {
    let b = bytes
    return UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
        b[14], b[15]
      ))
  }
}
