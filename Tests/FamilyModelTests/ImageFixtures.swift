@testable import FamilyModel

/// Synthetic image headers. `ImageHeader` does not read the pixels.
enum ImageFixtures {
  static func png(_ width: Int, _ height: Int, before chunks: [UInt8] = []) -> [UInt8] {
    PNGHeader.signature
      + chunk("IHDR", big(width, 4) + big(height, 4) + [8, 0, 0, 0, 0])
      + chunks + chunk("IDAT", [0x78, 0x9C]) + chunk("IEND", [])
  }

  static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    big(data.count, 4) + Array(name.utf8) + data + [0, 0, 0, 0]
  }

  static func jpeg(
    _ width: Int, _ height: Int, sof: UInt8 = 0xC0, components: Int = 3, repeating: Int = 1
  ) -> [UInt8] {
    let frame = [8] + big(height, 2) + big(width, 2) + [UInt8(components)]
    let segment = frame + [UInt8](repeating: 1, count: 3 * components)
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xFF, 0xDB, 0, 2]
    for _ in 0..<repeating { bytes += [0xFF, sof] + big(segment.count + 2, 2) + segment }
    return bytes + [0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
  }

  static func gif(_ width: Int, _ height: Int, images: Int = 1, left: Int = 0) -> [UInt8] {
    let colors = [UInt8](repeating: 0, count: 12)
    var bytes = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x81, 0, 0] + colors
    bytes += [0x21, 0xFE, 2, 7, 7, 0]
    for _ in 0..<images {
      bytes += [0x2C] + little(left, 2) + [0, 0] + little(width, 2) + little(height, 2) + [0x81]
      bytes += colors + [2, 2, 0x4C, 1, 0]
    }
    return bytes + [0x3B]
  }

  static func lossy(_ width: Int, _ height: Int) -> [UInt8] {
    riffChunk("VP8 ", [0x10, 0, 0, 0x9D, 1, 0x2A] + little(width, 2) + little(height, 2) + [9])
  }

  static func lossless(_ width: Int, _ height: Int) -> [UInt8] {
    riffChunk("VP8L", [0x2F] + little((width - 1) | (height - 1) << 14, 4))
  }

  static func extended(
    _ width: Int, _ height: Int, flags: UInt8 = 0x10, _ chunks: [UInt8]
  ) -> [UInt8] {
    riffChunk("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)) + chunks
  }

  static func webp(_ chunks: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
  }

  static func riffChunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(data.count, 4) + data + (data.count % 2 == 1 ? [0] : [])
  }

  static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

  static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
