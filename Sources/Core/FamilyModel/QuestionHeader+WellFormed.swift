extension QuestionHeader {
  /// Whether stored bytes satisfy the invariant of ``parts``, so that reading them stays in bounds.
  package static func isWellFormed(_ parts: [UInt8]) -> Bool {
    parts.withUnsafeBytes { bytes in
      var position = 0
      while position < bytes.count {
        let tag = bytes[position]
        position += 1
        guard tag & 7 == 2, 3...5 ~= tag >> 3, let part = part(of: bytes, at: &position) else {
          return false
        }
        guard tag >> 3 != 5 || isChoice(part) else { return false }
      }
      return true
    }
  }

  /// Whether the bytes are an optional id and an answer.
  private static func isChoice(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 2, bytes[bytes.count - 2] == 3 << 3,
      Answer(rawValue: bytes[bytes.count - 1]) != nil
    else { return false }
    guard bytes.count > 2 else { return true }
    let id = UnsafeRawBufferPointer(rebasing: bytes.dropLast(2))
    var position = 1
    return id[0] == 1 << 3 | 2 && part(of: id, at: &position) != nil && position == id.count
  }

  /// The bytes behind a length; `nil` if the length exceeds the rest.
  private static func part(of bytes: UnsafeRawBufferPointer, at position: inout Int)
    -> UnsafeRawBufferPointer?
  {
    guard let count = Varint.read(bytes, at: &position),
      count <= UInt64(bytes.count - position)
    else { return nil }
    let start = position
    position += Int(count)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }
}
