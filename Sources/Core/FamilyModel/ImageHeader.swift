/// What the first bytes of an encoded picture tell: its format, width and height (Q10, S2).
///
/// Nothing is decoded, and no bytes make it trap: every read is bounded. It takes one still picture
/// in a format that all decoders know; what is animated is refused, and so is what a header leaves
/// open, such as a frame that is larger than its canvas.
///
/// Sources: PNG (W3C, third edition), JPEG (ITU-T T.81), GIF89a, WebP (RFC 9649), VP8 (RFC 6386).
public struct ImageHeader: Hashable, Sendable {
  /// The formats that are taken.
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

  /// What the bytes say they are, whatever they were declared to be.
  public let format: Format
  /// Pixels from left to right, from 1 to `Limits.avatarPixels`.
  public let width: Int
  /// Pixels from top to bottom, from 1 to `Limits.avatarPixels`.
  public let height: Int

  /// Reads the header.
  ///
  /// - Throws: `badImage` for another format, a header that is cut off or contradicts itself, an
  ///   animation, or a side of no pixels or of more than `Limits.avatarPixels`.
  public init(bytes: [UInt8]) throws(Problem) {
    let reader = ByteReader(bytes)
    let found: (Format, PictureSize?) =
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
  /// Refuses a picture that must not be sent or shown: the bytes must be a picture of the declared
  /// type, of a size that is taken (Q10, S2).
  ///
  /// - Throws: `imageTooLarge` for more than `Limits.avatarBytes`, `badImage` for the rest.
  public func validate() throws(Problem) {
    guard bytes.count <= Limits.avatarBytes else { throw .imageTooLarge }
    // A media type has no case (RFC 6838).
    guard try ImageHeader(bytes: bytes).format.mediaType == mediaType.lowercased() else {
      throw .badImage
    }
  }
}

struct PictureSize: Hashable {
  var width: Int
  var height: Int
}

/// Reads from left to right; past the end there is `nil`, and nothing moves.
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

  /// A number of up to four bytes, the highest first.
  mutating func big(_ count: Int) -> Int? { take(count)?.reduce(0) { $0 << 8 | Int($1) } }

  /// A number of up to four bytes, the lowest first.
  mutating func little(_ count: Int) -> Int? {
    take(count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
