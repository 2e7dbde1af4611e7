// One reader for each format of `ImageHeader`. `nil` means that the bytes are no still image of
// that format.

enum PNGHeader {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// IHDR is the first chunk. An animation has an acTL chunk before the first IDAT.
  static func size(_ start: ByteReader) -> ImageSize? {
    var reader = start
    guard reader.skip(8) != nil, reader.big(4) == 13, reader.takes("IHDR"),
      let width = reader.big(4), let height = reader.big(4), reader.skip(5 + 4) != nil
    else { return nil }
    while let length = reader.big(4) {
      if reader.starts(with: Array("IDAT".utf8)) {
        return ImageSize(width: width, height: height)
      }
      for refused in ["acTL", "fcTL", "IHDR", "IEND"] where reader.takes(refused) { return nil }
      guard reader.skip(4 + length + 4) != nil else { return nil }
    }
    return nil
  }
}

enum JPEGHeader {
  /// Accepts one SOF marker of a common kind before the first scan.
  static func size(_ start: ByteReader) -> ImageSize? {
    var reader = start
    var size: ImageSize?
    guard reader.big(2) == 0xFFD8 else { return nil }
    while reader.byte() == 0xFF {
      guard var marker = reader.byte() else { return nil }
      // Any number of 0xFF bytes may precede a marker.
      while marker == 0xFF {
        guard let next = reader.byte() else { return nil }
        marker = next
      }
      guard let length = reader.big(2), length >= 2, var segment = reader.part(length - 2) else {
        return nil
      }
      switch marker {
      case 0xC0, 0xC1, 0xC2:
        guard size == nil, segment.byte() == 8, let height = segment.big(2),
          let width = segment.big(2), let components = segment.byte(),
          [1, 3, 4].contains(components), segment.left == 3 * components
        else { return nil }
        size = ImageSize(width: width, height: height)
      case 0xDA: return size
      // Tables, application data, comments, restart interval.
      case 0xC4, 0xDB, 0xDD, 0xE0...0xEF, 0xFE: continue
      // Lossless, hierarchical and arithmetic coding, DNL, and markers that are invalid here.
      default: return nil
      }
    }
    return nil
  }
}

enum GIFHeader {
  /// Accepts exactly one image within its canvas; a second image would be an animation.
  static func size(_ start: ByteReader) -> ImageSize? {
    var reader = start
    guard reader.skip(6) != nil, let width = reader.little(2), let height = reader.little(2),
      let flags = reader.byte(), reader.skip(2) != nil, reader.skipColors(flags) != nil
    else { return nil }
    var images = 0
    while let block = reader.byte() {
      switch block {
      case 0x21:
        guard reader.skip(1) != nil, reader.skipBlocks() != nil else { return nil }
      case 0x2C:
        images += 1
        guard images == 1, let left = reader.little(2), let top = reader.little(2),
          let columns = reader.little(2), let rows = reader.little(2), columns > 0, rows > 0,
          left + columns <= width, top + rows <= height, let flags = reader.byte(),
          reader.skipColors(flags) != nil, reader.skip(1) != nil, reader.skipBlocks() != nil
        else { return nil }
      case 0x3B: return images == 1 ? ImageSize(width: width, height: height) : nil
      default: return nil
      }
    }
    return nil
  }
}

enum WebPHeader {
  static func size(_ start: ByteReader) -> ImageSize? {
    var reader = start
    guard reader.takes("RIFF"), let length = reader.little(4), length >= 4,
      var chunks = reader.part(length), chunks.takes("WEBP")
    else { return nil }
    if chunks.takes("VP8X") { return extended(&chunks) }
    return image(&chunks)
  }

  /// Accepts a canvas and one image of the same size. Bit 1 of the flags marks an animation.
  private static func extended(_ chunks: inout ByteReader) -> ImageSize? {
    guard var header = chunks.chunk(), let flags = header.byte(), flags & 0x02 == 0,
      header.skip(3) != nil, let width = header.little(3), let height = header.little(3)
    else { return nil }
    let canvas = ImageSize(width: width + 1, height: height + 1)
    while chunks.left > 0 {
      if chunks.starts(with: Array("VP8".utf8)) {
        return image(&chunks) == canvas ? canvas : nil
      }
      guard !chunks.starts(with: Array("ANI".utf8)), !chunks.starts(with: Array("ANMF".utf8)),
        chunks.skip(4) != nil, chunks.chunk() != nil
      else { return nil }
    }
    return nil
  }

  private static func image(_ chunks: inout ByteReader) -> ImageSize? {
    if chunks.takes("VP8 ") {
      // Bit 0 of the frame tag is 0 for a key frame. The upper two bits of each side are a scale.
      guard var data = chunks.chunk(), let tag = data.little(3), tag & 1 == 0,
        data.big(3) == 0x9D012A, let width = data.little(2), let height = data.little(2)
      else { return nil }
      return ImageSize(width: width & 0x3FFF, height: height & 0x3FFF)
    }
    guard chunks.takes("VP8L"), var data = chunks.chunk(), data.byte() == 0x2F,
      let bits = data.little(4), bits >> 29 == 0
    else { return nil }
    return ImageSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
  }
}

extension ByteReader {
  /// Skips the name if the next bytes match it.
  fileprivate mutating func takes(_ name: String) -> Bool {
    let name = Array(name.utf8)
    return starts(with: name) && skip(name.count) != nil
  }

  /// A reader of the next `count` bytes, which this reader skips.
  fileprivate mutating func part(_ count: Int) -> ByteReader? {
    take(count).map { ByteReader(Array($0)) }
  }

  /// The payload of a RIFF chunk after its name. An odd payload is padded by one byte.
  fileprivate mutating func chunk() -> ByteReader? {
    guard let length = little(4), let data = part(length) else { return nil }
    // Some encoders omit the last chunk's padding.
    if length % 2 == 1, left > 0 { _ = skip(1) }
    return data
  }

  /// Skips a GIF's colour table if the flags announce one.
  fileprivate mutating func skipColors(_ flags: Int) -> Void? {
    skip(flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1))
  }

  /// Skips a GIF's sub-blocks, up to the empty one.
  fileprivate mutating func skipBlocks() -> Void? {
    while let length = byte() {
      if length == 0 { return () }
      guard skip(length) != nil else { return nil }
    }
    return nil
  }
}
