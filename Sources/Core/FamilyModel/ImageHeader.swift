/// The format, width and height of an encoded image, read from its header.
///
/// Nothing is decoded, and every read is bounded. The reader accepts one still image in a format
/// that all decoders support. Animations and ambiguous headers, such as a frame larger than its
/// canvas, are rejected.
///
/// Sources: PNG (W3C, third edition), JPEG (ITU-T T.81), GIF89a, WebP (RFC 9649), VP8 (RFC 6386).
public struct ImageHeader: Hashable, Sendable {
  /// The accepted formats.
  public enum Format: Hashable, Sendable, CaseIterable {
    /// Portable Network Graphics, without animation.
    case png
    /// JPEG: baseline, extended or progressive.
    case jpeg
    /// GIF with one image.
    case gif
    /// WebP, lossy or lossless, without animation.
    case webp

    /// The registered media type.
    public var mediaType: String {
      switch self {
      case .png: "image/png"
      case .jpeg: "image/jpeg"
      case .gif: "image/gif"
      case .webp: "image/webp"
      }
    }
  }

  /// The format of the bytes, independent of the declared media type.
  public let format: Format
  /// The width in pixels, from 1 to `Limits.avatarPixels`.
  public let width: Int
  /// The height in pixels, from 1 to `Limits.avatarPixels`.
  public let height: Int

  /// Reads the header.
  ///
  /// - Throws: `badImage` for another format, a truncated or contradictory header, an animation, or
  ///   a side outside 1 to `Limits.avatarPixels`.
  public init(bytes: [UInt8]) throws(Problem) {
    let reader = ByteReader(bytes)
    let found: (Format, ImageSize?) =
      if reader.starts(with: PNGHeader.signature) {
        (.png, PNGHeader.size(reader))
      } else if reader.starts(with: [0xFF, 0xD8, 0xFF]) {
        (.jpeg, JPEGHeader.size(reader))
      } else if reader.starts(with: Array("GIF87a".utf8))
        || reader.starts(with: Array("GIF89a".utf8))
      {
        (.gif, GIFHeader.size(reader))
      } else {
        (.webp, WebPHeader.size(reader))
      }
    let sides = 1...Limits.avatarPixels
    guard let size = found.1, sides.contains(size.width), sides.contains(size.height) else {
      throw .badImage
    }
    (format, width, height) = (found.0, size.width, size.height)
  }
}

extension Avatar {
  /// Checks that the bytes are an image of the declared type and of an accepted size.
  ///
  /// - Throws: `imageTooLarge` for more than `Limits.avatarBytes`, `badImage` for every other
  ///   defect.
  public func validate() throws(Problem) {
    guard bytes.count <= Limits.avatarBytes else { throw .imageTooLarge }
    // Media types are case-insensitive (RFC 6838).
    guard try ImageHeader(bytes: bytes).format.mediaType == mediaType.lowercased() else {
      throw .badImage
    }
  }
}

struct ImageSize: Hashable {
  var width: Int
  var height: Int
}

/// Reads bytes from left to right. A read past the end returns `nil` and does not move the
/// position.
struct ByteReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var left: Int { bytes.count - position }

  func starts(with prefix: [UInt8]) -> Bool {
    bytes.dropFirst(position).starts(with: prefix)
  }

  mutating func skip(_ count: Int) -> Void? {
    guard count >= 0, count <= left else { return nil }
    position += count
    return ()
  }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    let start = position
    return skip(count).map { bytes[start..<position] }
  }

  mutating func byte() -> Int? { take(1)?.first.map(Int.init) }

  /// Reads a big-endian number of up to four bytes.
  mutating func big(_ count: Int) -> Int? { take(count)?.reduce(0) { $0 << 8 | Int($1) } }

  /// Reads a little-endian number of up to four bytes.
  mutating func little(_ count: Int) -> Int? {
    take(count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
