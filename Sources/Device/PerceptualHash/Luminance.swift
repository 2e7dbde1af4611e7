/// The brightness of a picture's pixels, in rows.
struct Luminance {
  let width: Int
  let height: Int
  var values: [Float]

  /// Computes the brightness of pixels with three bytes: red, green and blue.
  init(width: Int, height: Int, rgb: UnsafeBufferPointer<UInt8>) {
    self.width = width
    self.height = height
    values = [Float](unsafeUninitializedCapacity: width * height) { buffer, count in
      count = width * height
      for index in 0..<count {
        let (red, green, blue) = (rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2])
        buffer[index] = 0.299 * Float(red) + 0.587 * Float(green) + 0.114 * Float(blue)
      }
    }
  }

  /// The picture reduced to a square: blurred by a tent, and then sampled at the squares' centres.
  ///
  /// Two passes of a box are a tent (Wojciech Jarosz, "Fast Image Convolutions", 2001).
  func reduced(to side: Int) -> [Float] {
    var blurred = values
    if width != side || height != side {
      let (across, down) = (Window(width, side), Window(height, side))
      var other = values
      blurred.withUnsafeMutableBufferPointer { blurred in
        other.withUnsafeMutableBufferPointer { other in
          for _ in 0..<2 {
            for row in 0..<height { averageRow(row, blurred, into: other, across) }
            averageColumns(other, into: blurred, down)
          }
        }
      }
    }
    return (0..<side * side).map { index in
      let row = Self.centre(index / side, height, side)
      return blurred[row * width + Self.centre(index % side, width, side)]
    }
  }

  private static func centre(_ index: Int, _ dimension: Int, _ side: Int) -> Int {
    Int((Double(index) + 0.5) * Double(dimension) / Double(side))
  }

  /// The values around each one whose mean replaces it, as far as there are values.
  private struct Window {
    let before: Int
    let after: Int

    init(_ dimension: Int, _ side: Int) {
      let size = (dimension + 2 * side - 1) / (2 * side)
      after = size / 2
      before = size - 1 - after
    }
  }

  private func averageRow(
    _ row: Int, _ values: UnsafeMutableBufferPointer<Float>,
    into means: UnsafeMutableBufferPointer<Float>, _ window: Window
  ) {
    let start = row * width
    var (sum, size) = (Float(0), 0)
    for next in -window.after..<width {
      if next + window.after < width {
        sum += values[start + next + window.after]
        size += 1
      }
      if next > window.before {
        sum -= values[start + next - window.before - 1]
        size -= 1
      }
      if next >= 0 { means[start + next] = sum / Float(size) }
    }
  }

  /// Averages all columns at once, because the values of a column lie far apart.
  private func averageColumns(
    _ values: UnsafeMutableBufferPointer<Float>, into means: UnsafeMutableBufferPointer<Float>,
    _ window: Window
  ) {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { sums in
      sums.initialize(repeating: 0)
      var size = 0
      for next in -window.after..<height {
        if next + window.after < height {
          let entering = (next + window.after) * width
          for column in 0..<width { sums[column] += values[entering + column] }
          size += 1
        }
        if next > window.before {
          let leaving = (next - window.before - 1) * width
          for column in 0..<width { sums[column] -= values[leaving + column] }
          size -= 1
        }
        guard next >= 0 else { continue }
        for column in 0..<width { means[next * width + column] = sums[column] / Float(size) }
      }
    }
  }
}
