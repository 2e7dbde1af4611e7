import FamilyModel

/// The bodies that versions before theirs read as a field from 201 on.
///
/// Their signature covers number and bytes of the field, so those versions verify them.
extension OpaqueBody {
  /// The field `settings_changed`.
  static func settings(_ person: PersonID, _ content: Content, proof: [UInt8]) -> OpaqueBody {
    var bytes: [UInt8] = []
    if person.rawValue != 0 {
      bytes.append(1 << 3)
      Varint.append(UInt64(person.rawValue), to: &bytes)
    }
    if case .sealed(let content) = content { append(content, field: 2, to: &bytes) }
    append(proof, field: 3, to: &bytes)
    return OpaqueBody(kind: 201, bytes: bytes)
  }

  private static func append(_ value: [UInt8], field: UInt8, to bytes: inout [UInt8]) {
    guard !value.isEmpty else { return }
    bytes.append(field << 3 | 2)
    Varint.append(UInt64(value.count), to: &bytes)
    bytes += value
  }
}
