/// Variable-length integers as in protobuf (LEB128): seven bits per byte, least significant first.
///
/// Code in which these loops dominate (the packed families, the frame reader and writer) has its
/// own copies.
package enum Varint {
  /// Appends the number in its shortest form, 1 to 10 bytes.
  @inlinable
  package static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var remaining = number
    while remaining > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: remaining) | 0x80)
      remaining >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: remaining))
  }

  /// Bytes of the number in its shortest form.
  @inlinable
  package static func size(of number: UInt64) -> Int {
    max(1, (70 - number.leadingZeroBitCount) / 7)
  }

  /// Writes the number in its shortest form at an offset.
  ///
  /// Precondition: the buffer has room for the number's 1 to 10 bytes.
  @inlinable
  package static func write(
    _ number: UInt64, to bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) {
    var (remaining, offset) = (number, offset)
    while remaining > 0x7F {
      bytes[offset] = UInt8(truncatingIfNeeded: remaining) | 0x80
      remaining >>= 7
      offset += 1
    }
    bytes[offset] = UInt8(truncatingIfNeeded: remaining)
  }

  /// Reads a number and moves the position behind its last byte.
  ///
  /// - Returns: `nil` if the bytes end within the number, or the number exceeds 64 bits.
  @inlinable
  package static func read(_ bytes: UnsafeRawBufferPointer, at position: inout Int) -> UInt64? {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      // The tenth byte has room for one bit.
      guard shift < 63 || byte < 2 else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }
}
