/// A picture in so few pixels that nobody recognizes what it shows.
///
/// Each pixel is the mean of those that it stands for.
public struct BlurredPicture: Hashable, Sendable {
  /// The number of pixels of the longest side.
  public static let longestSide = 12
  static let headerBytes = 3

  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// Red, green and blue for each pixel, in rows.
  public let rgb: [UInt8]

  /// Blurs a picture. Precondition: the sides are positive, with three values for each pixel.
  public init(width: Int, height: Int, rgb: UnsafeBufferPointer<UInt8>) {
    precondition(width > 0 && height > 0 && rgb.count == 3 * width * height)
    let longest = max(width, height)
    func side(_ pixels: Int) -> Int {
      longest <= Self.longestSide ? pixels : max(1, pixels * Self.longestSide / longest)
    }
    let (columns, rows) = (side(width), side(height))
    var values: [UInt8] = []
    values.reserveCapacity(3 * columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        for color in 0..<3 {
          var (sum, count) = (0, 0)
          for y in (row * height / rows)..<((row + 1) * height / rows) {
            for x in (column * width / columns)..<((column + 1) * width / columns) {
              sum += Int(rgb[3 * (y * width + x) + color])
              count += 1
            }
          }
          values.append(UInt8((sum + count / 2) / count))
        }
      }
    }
    (self.width, self.height, self.rgb) = (columns, rows, values)
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count > Self.headerBytes, bytes[1...2].allSatisfy({ $0 <= Self.longestSide }) else {
      return nil
    }
    (width, height) = (Int(bytes[1]), Int(bytes[2]))
    guard bytes.count == Self.headerBytes + 3 * width * height else { return nil }
    rgb = Array(bytes[Self.headerBytes...])
  }
}

/// The reply of a decoder to a picture that an app wants blurred.
public enum BlurReply: Hashable, Sendable {
  /// The blurred picture.
  case blurred(BlurredPicture)
  /// The bytes are no picture of their format.
  case undecodable

  private static let kind: UInt8 = 6
  /// Bytes of the longest message.
  public static let maximumBytes =
    BlurredPicture.headerBytes + 3 * BlurredPicture.longestSide * BlurredPicture.longestSide

  /// The message: its kind, and of a picture the sides of one byte each and the pixels.
  public var bytes: [UInt8] {
    switch self {
    case .blurred(let picture):
      [Self.kind, UInt8(picture.width), UInt8(picture.height)] + picture.rgb
    case .undecodable: [Self.kind + 1]
    }
  }

  /// Reads a message; `nil` for other bytes.
  public init?(_ bytes: [UInt8]) {
    switch bytes.first {
    case Self.kind:
      guard let picture = BlurredPicture(bytes) else { return nil }
      self = .blurred(picture)
    case Self.kind + 1 where bytes.count == 1: self = .undecodable
    default: return nil
    }
  }
}
