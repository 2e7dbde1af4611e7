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
    var blurred = self
    if width != side || height != side {
      let (rowWindow, columnWindow) = (window(width, side), window(height, side))
      var other = values
      for _ in 0..<2 {
        for row in 0..<height {
          Self.average(blurred.values, into: &other, from: row * width, count: width, 1, rowWindow)
        }
        for column in 0..<width {
          Self.average(
            other, into: &blurred.values, from: column, count: height, width, columnWindow)
        }
      }
    }
    return (0..<side * side).map { index in
      let row = Self.centre(index / side, height, side)
      return blurred.values[row * width + Self.centre(index % side, width, side)]
    }
  }

  private func window(_ dimension: Int, _ side: Int) -> Int {
    (dimension + 2 * side - 1) / (2 * side)
  }

  private static func centre(_ index: Int, _ dimension: Int, _ side: Int) -> Int {
    Int((Double(index) + 0.5) * Double(dimension) / Double(side))
  }

  /// Replaces each value by the mean of the window around it, as far as the window has values.
  private static func average(
    _ values: [Float], into means: inout [Float], from start: Int, count: Int, _ step: Int,
    _ window: Int
  ) {
    let after = (window + 2) / 2 - 1
    let before = window - 1 - after
    var (sum, size) = (Float(0), 0)
    for index in 0..<min(after, count) {
      sum += values[start + index * step]
      size += 1
    }
    for index in 0..<count {
      if index + after < count {
        sum += values[start + (index + after) * step]
        size += 1
      }
      if index - before > 0 {
        sum -= values[start + (index - before - 1) * step]
        size -= 1
      }
      means[start + index * step] = sum / Float(size)
    }
  }
}
