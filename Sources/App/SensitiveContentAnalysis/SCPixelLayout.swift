/// The layout of a frame's pixels in memory, in the place of Apple's `CVPixelBuffer`.
///
/// The rows of a plane follow each other, the top one first, and the planes follow each other.
public struct SCPixelLayout: Sendable, Hashable {
  /// The order of a frame's bytes.
  public enum Format: Sendable, CaseIterable {
    /// Red, green and blue, one byte each.
    case rgb
    /// Blue, green, red and a byte that does not count.
    case bgra
    /// A plane of brightness, and one of U and V at half the width and height (BT.601, 16 to 235).
    case nv12
    /// A plane of brightness, one of U and one of V, each at half the width and height (BT.601, 16 to 235).
    case i420
  }

  /// The order of the bytes.
  public let format: Format
  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The distance of two rows of the first plane, in bytes. The rows of U and V in `i420` have half of it, rounded up.
  public let bytesPerRow: Int

  /// Describes a frame.
  ///
  /// - Parameters:
  ///   - format: The order of the bytes.
  ///   - width: The number of pixels in a row.
  ///   - height: The number of rows.
  ///   - bytesPerRow: The distance of two rows, in bytes; `nil`: rows without padding.
  public init(_ format: Format, width: Int, height: Int, bytesPerRow: Int? = nil) {
    self.format = format
    self.width = width
    self.height = height
    let bytesPerPixel =
      switch format {
      case .rgb: 3
      case .bgra: 4
      case .nv12, .i420: 1
      }
    let (least, isTooLarge) = width.multipliedReportingOverflow(by: bytesPerPixel)
    self.bytesPerRow = bytesPerRow ?? (isTooLarge ? .max : least)
  }

  /// One colour of the pixels, or their brightness.
  struct Component {
    /// The place of the first value.
    var offset: Int
    /// The distance of two values in a row.
    var step: Int
    var bytesPerRow: Int
    var width: Int
    var height: Int

    /// The number of bytes up to the end of the last value.
    var end: Int { offset + (height - 1) * bytesPerRow + (width - 1) * step + 1 }
  }

  /// Whether sides and rows are within the limits of a frame, and rows do not overlap.
  var isValid: Bool {
    let sides = SmallFrame.shortestSource...SmallFrame.longestSource
    guard sides.contains(width), sides.contains(height),
      max(width, height) <= SmallFrame.largestRatio * min(width, height),
      bytesPerRow <= SmallFrame.largestRow
    else { return false }
    return bytesPerRow >= SCPixelLayout(format, width: width, height: height).bytesPerRow
  }

  /// Red, green and blue, or brightness, U and V. Precondition: the layout is valid.
  var components: [Component] {
    let step = format == .rgb ? 3 : 4
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    let brightness = Component(
      offset: 0, step: 1, bytesPerRow: bytesPerRow, width: width, height: height)
    func color(_ offset: Int) -> Component {
      Component(offset: offset, step: step, bytesPerRow: bytesPerRow, width: width, height: height)
    }
    func half(_ offset: Int, step: Int, _ bytesPerRow: Int) -> Component {
      Component(
        offset: height * self.bytesPerRow + offset, step: step, bytesPerRow: bytesPerRow,
        width: halfWidth, height: halfHeight)
    }
    switch format {
    case .rgb: return [color(0), color(1), color(2)]
    case .bgra: return [color(2), color(1), color(0)]
    case .nv12:
      let row = max(bytesPerRow, 2 * halfWidth)
      return [brightness, half(0, step: 2, row), half(1, step: 2, row)]
    case .i420:
      let row = (bytesPerRow + 1) / 2
      return [brightness, half(0, step: 1, row), half(halfHeight * row, step: 1, row)]
    }
  }
}
