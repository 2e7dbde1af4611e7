package import FamilyModel

/// A small frame as PNG (W3C, Portable Network Graphics, third edition), the format of the worker's interface.
///
/// The pixels are stored without compression (RFC 1951, 3.2.4): the copy stays on the machine.
extension SmallFrame {
  /// The picture for the worker.
  package var picture: Avatar { Avatar(mediaType: ImageHeader.Format.png.mediaType, bytes: png) }

  var png: [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    // Eight bits for each of red, green and blue; no interlacing.
    Self.append(
      "IHDR", Self.bigEndian(UInt32(width)) + Self.bigEndian(UInt32(height)) + [8, 2, 0, 0, 0],
      to: &bytes)
    Self.append("IDAT", stored, to: &bytes)
    Self.append("IEND", [], to: &bytes)
    return bytes
  }

  /// The rows, each after the number of its filter, in one stored block of a zlib stream (RFC 1950).
  private var stored: [UInt8] {
    let row = 3 * width
    let count = UInt16(height * (row + 1))
    var bytes: [UInt8] = [0x78, 0x01, 1]
    for length in [count, ~count] {
      bytes += [UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
    }
    let start = bytes.count
    for index in 0..<height {
      bytes.append(0)
      bytes += rgb[(index * row)..<((index + 1) * row)]
    }
    return bytes + Self.bigEndian(Self.adler(bytes[start...]))
  }

  private static func append(_ type: StaticString, _ data: [UInt8], to bytes: inout [UInt8]) {
    bytes += bigEndian(UInt32(data.count))
    let start = bytes.count
    type.withUTF8Buffer { bytes += $0 }
    bytes += data
    let checksum = bytes[start...].reduce(UInt32.max) { value, byte in
      checksums[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
    }
    bytes += bigEndian(~checksum)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  /// The remainders of the CRC-32 of PNG, by byte.
  private static let checksums: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }

  /// The Adler-32 of a zlib stream.
  private static func adler(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }
}
