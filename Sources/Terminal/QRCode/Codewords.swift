/// A version of QR codes at correction level L, which suffices for a screen.
struct Version {
  /// The version's number, 1 to 15.
  let number: Int
  /// The number of correction bytes in each block.
  let correction: Int
  /// The number of data bytes in each block; longer blocks come last.
  let blocks: [Int]
  /// The rows and columns of the alignment patterns' centres.
  let alignment: [Int]

  var size: Int { 17 + 4 * number }
  var dataBytes: Int { blocks.reduce(0, +) }

  static let all: [Version] = [
    (7, [19], []), (10, [34], [6, 18]), (15, [55], [6, 22]), (20, [80], [6, 26]),
    (26, [108], [6, 30]), (18, [68, 68], [6, 34]), (20, [78, 78], [6, 22, 38]),
    (24, [97, 97], [6, 24, 42]), (30, [116, 116], [6, 26, 46]),
    (18, [68, 68, 69, 69], [6, 28, 50]), (20, [81, 81, 81, 81], [6, 30, 54]),
    (24, [92, 92, 93, 93], [6, 32, 58]), (26, [107, 107, 107, 107], [6, 34, 62]),
    (30, [115, 115, 115, 116], [6, 26, 46, 66]), (22, [87, 87, 87, 87, 87, 88], [6, 26, 48, 70]),
  ].enumerated().map { index, row in
    Version(number: index + 1, correction: row.0, blocks: row.1, alignment: row.2)
  }
}

/// The bytes of a QR code in alphanumeric mode.
enum Codewords {
  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)

  /// The text as padded data bytes of the smallest version that fits.
  ///
  /// - Returns: `nil` if the text is too long or has a character outside the alphabet.
  static func data(_ text: String, from minimum: Int = 1) -> (Version, [UInt8])? {
    let values = text.utf8.compactMap { alphabet.firstIndex(of: $0) }
    guard values.count == text.utf8.count else { return nil }
    for version in Version.all.dropFirst(minimum - 1) {
      var bits = Bits()
      bits.append(0b0010, 4)
      bits.append(values.count, version.number < 10 ? 9 : 11)
      for index in stride(from: 0, to: values.count, by: 2) {
        if index + 1 < values.count {
          bits.append(values[index] * 45 + values[index + 1], 11)
        } else {
          bits.append(values[index], 6)
        }
      }
      guard bits.count <= version.dataBytes * 8 else { continue }
      return (version, bits.padded(to: version.dataBytes))
    }
    return nil
  }

  /// The data and correction bytes of all blocks, interleaved in the code's order.
  static func interleaved(_ data: [UInt8], _ version: Version) -> [UInt8] {
    var remaining = data[...]
    let blocks = version.blocks.map { count in
      defer { remaining = remaining.dropFirst(count) }
      return Array(remaining.prefix(count))
    }
    let corrections = blocks.map { ReedSolomon.correction(of: $0, count: version.correction) }
    return columns(blocks) + columns(corrections)
  }

  private static func columns(_ blocks: [[UInt8]]) -> [UInt8] {
    (0..<(blocks.map(\.count).max() ?? 0)).flatMap { index in
      blocks.compactMap { index < $0.count ? $0[index] : nil }
    }
  }
}

private struct Bits {
  private var bits: [Bool] = []
  var count: Int { bits.count }

  mutating func append(_ value: Int, _ count: Int) {
    for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
  }

  /// The bits with terminator, padded to whole bytes and then with 0xEC and 0x11.
  func padded(to bytes: Int) -> [UInt8] {
    var copy = self
    copy.append(0, min(4, bytes * 8 - count))
    copy.append(0, (8 - copy.count % 8) % 8)
    var result = stride(from: 0, to: copy.count, by: 8).map { start in
      copy.bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
    for index in 0..<(bytes - result.count) { result.append(index % 2 == 0 ? 0xEC : 0x11) }
    return result
  }
}
