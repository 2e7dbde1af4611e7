import PerceptualHash

/// A small copy of a frame: red, green and blue for each pixel, in rows.
///
/// Each value is the mean of all pixels that it stands for, so a classifier sees the whole frame. The copy leaves
/// the app's process in the place of the frame, and is the frame's only copy.
package struct SmallFrame: Sendable, Hashable {
  /// The shortest and longest side of a frame.
  static let shortestSource = 16
  static let longestSource = 8_192
  /// The largest ratio of a frame's sides.
  static let largestRatio = 8
  /// The most bytes between two rows of a frame.
  static let largestRow = 64 * 1024

  let width: Int
  let height: Int
  let rgb: [UInt8]

  /// Copies a frame; `nil` for a wrong layout, and for fewer bytes than the layout has.
  package init?(_ frame: RawSpan, _ layout: SCPixelLayout) {
    guard layout.isValid else { return nil }
    let components = layout.components
    guard components.allSatisfy({ $0.end <= frame.byteCount }) else { return nil }
    let size = FrameSize.ofCopy(width: layout.width, height: layout.height)
    let (width, height) = (size.width, size.height)
    var values = frame.withUnsafeBytes { bytes in
      var values = [UInt8](repeating: 0, count: 3 * width * height)
      for (index, component) in components.enumerated() {
        Self.average(component, of: bytes, into: &values, from: index, width, height)
      }
      return values
    }
    switch layout.format {
    case .rgb, .bgra: break
    case .nv12, .i420:
      for index in stride(from: 0, to: values.count, by: 3) { Self.convert(&values, at: index) }
    }
    self.init(width: width, height: height, rgb: values)
  }

  /// Sets every third value from the first index on.
  private static func average(
    _ component: SCPixelLayout.Component, of bytes: UnsafeRawBufferPointer,
    into values: inout [UInt8], from first: Int, _ width: Int, _ height: Int
  ) {
    let columns = (0...width).map { $0 * component.width / width }
    var sums = [UInt32](repeating: 0, count: width)
    for row in 0..<height {
      let top = row * component.height / height
      let bottom = max(top + 1, (row + 1) * component.height / height)
      for column in sums.indices { sums[column] = 0 }
      for line in top..<bottom {
        let start = component.offset + line * component.bytesPerRow
        for column in 0..<width {
          var sum: UInt32 = 0
          let right = max(columns[column] + 1, columns[column + 1])
          for place in columns[column]..<right {
            sum &+= UInt32(bytes[start &+ place &* component.step])
          }
          sums[column] &+= sum
        }
      }
      for column in 0..<width {
        let right = max(columns[column] + 1, columns[column + 1])
        let count = UInt32((right - columns[column]) * (bottom - top))
        values[3 * (row * width + column) + first] = UInt8((sums[column] + count / 2) / count)
      }
    }
  }

  /// Converts brightness, U and V to red, green and blue (ITU-R BT.601).
  private static func convert(_ values: inout [UInt8], at index: Int) {
    let brightness = 298 * (Int(values[index]) - 16)
    let (u, v) = (Int(values[index + 1]) - 128, Int(values[index + 2]) - 128)
    values[index] = UInt8(clamping: (brightness + 409 * v + 128) >> 8)
    values[index + 1] = UInt8(clamping: (brightness - 100 * u - 208 * v + 128) >> 8)
    values[index + 2] = UInt8(clamping: (brightness + 516 * u + 128) >> 8)
  }

  /// Creates a copy from its pixels. Precondition: three values for each pixel.
  init(width: Int, height: Int, rgb: [UInt8]) {
    precondition(rgb.count == 3 * width * height)
    self.width = width
    self.height = height
    self.rgb = rgb
  }
}
