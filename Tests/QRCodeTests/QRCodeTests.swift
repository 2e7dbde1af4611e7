import Testing

@testable import QRCode

@Suite struct QRCodeTests {
  /// The tutorials' example: HELLO WORLD in version 1 at level M, with ten correction bytes.
  private static let hello: [UInt8] = [
    32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17,
  ]

  @Test("encodes the data and correction bytes of a known code") func known() throws {
    let (version, data) = try #require(Codewords.data("HELLO WORLD"))
    #expect(version.number == 1)
    #expect(data == Self.hello + [236, 17, 236])
    #expect(
      ReedSolomon.correction(of: Self.hello, count: 10)
        == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
  }

  @Test("every version's blocks fill its modules, and its bytes are read back") func versions()
    throws
  {
    for version in Version.all {
      // Fewer than eight modules remain, so no further byte fits.
      let modules = Self.modulesForData(version)
      let total = version.dataBytes + version.blocks.count * version.correction
      #expect(modules / 8 == total, "version \(version.number)")
      let bytes = (0..<total).map { UInt8(truncatingIfNeeded: $0 * 7 + version.number) }
      #expect(Reader(QRCode(version, bytes)).bytes(total) == bytes)
    }
  }

  @Test("selects the smallest version that fits, and rejects unsupported texts") func sizes() {
    #expect(QRCode(String(repeating: "A", count: 25))?.modules.count == 21)
    #expect(QRCode(String(repeating: "A", count: 26))?.modules.count == 25)
    #expect(QRCode(String(repeating: "A", count: 335))?.modules.count == 53)
    #expect(QRCode(String(repeating: "A", count: 395))?.modules.count == 57)
    #expect(QRCode(String(repeating: "A", count: 758))?.modules.count == 77)
    #expect(QRCode(String(repeating: "A", count: 759)) == nil)
    #expect(QRCode("abc") == nil)
  }

  @Test("a terminal's rows have a quiet zone of four modules") func terminal() throws {
    let lines = try #require(QRCode("HELLO WORLD")).rows
    #expect(lines.count == 15)
    #expect(lines[0].count == 29 && lines[0].allSatisfy { $0 == " " })
    #expect(lines[2].contains("█▀▀▀▀▀█"))
  }

  private static func modulesForData(_ version: Version) -> Int {
    let finders = 3 * 64
    let alignments = version.alignment.count
    let patterns = alignments == 0 ? 0 : (alignments * alignments - 3) * 25
    // Alignment patterns on the timing lines share five modules with them.
    let shared = alignments > 2 ? (alignments - 2) * 2 * 5 : 0
    let timing = 2 * (version.size - 16)
    let format = 31 + (version.number >= 7 ? 36 : 0)
    return version.size * version.size - finders - patterns - timing - format + shared
  }
}

/// Decodes an error-free code: its format, its mask, and the bytes along the columns.
private struct Reader {
  let code: QRCode
  init(_ code: QRCode) { self.code = code }

  private var mask: Int {
    // The first copy of the format. After XOR with the fixed pattern, bits 12…10 are the mask.
    let bits = (0..<15).map { index -> Bool in
      switch index {
      case 0..<6: code.modules[index][8]
      case 6, 7: code.modules[index + 1][8]
      case 8: code.modules[8][7]
      default: code.modules[8][14 - index]
      }
    }
    let number = bits.reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) } ^ 0x5412
    return number >> 10 & 7
  }

  private func plain(_ version: Version, _ count: Int, _ byte: UInt8) -> [[Bool]] {
    QRCode(unmasked: version, Array(repeating: byte, count: count)).modules
  }

  func bytes(_ count: Int) -> [UInt8] {
    let size = code.modules.count
    let version = Version.all[(size - 17) / 4 - 1]
    // Function modules are those that do not change with the data.
    let (zeros, ones) = (plain(version, count, 0), plain(version, count, 0xFF))
    var bits: [Bool] = []
    var columns = Array(stride(from: size - 1, to: 6, by: -2))
    columns += stride(from: 5, to: 0, by: -2)
    for (index, column) in columns.enumerated() {
      for step in 0..<size {
        let row = index % 2 == 0 ? size - 1 - step : step
        for x in [column, column - 1] where zeros[row][x] != ones[row][x] {
          bits.append(code.modules[row][x] != QRCode.flips(mask, row, x))
        }
      }
    }
    return (0..<count).map { byte in
      bits[byte * 8..<byte * 8 + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
  }
}
