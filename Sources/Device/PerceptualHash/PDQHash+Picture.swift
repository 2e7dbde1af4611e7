import Foundation

extension PDQHash {
  /// A hash with the quality of its picture.
  public struct Rated: Hashable, Sendable {
    /// The hash.
    public var hash: PDQHash
    /// The amount of detail, 0 to 100. The hash of a picture with little detail says little.
    public var quality: Int

    /// Creates a hash with a quality.
    public init(hash: PDQHash, quality: Int) { (self.hash, self.quality) = (hash, quality) }
  }

  /// The lowest quality at which its authors recommend to compare a hash.
  public static let recommendedQuality = 50

  /// The shortest side of a picture that has a hash.
  public static let minimumSide = 5

  private static let side = 64
  private static let frequencies = 16

  /// The waves of the discrete cosine transform, without the constant one.
  private static let waves: [Float] = (0..<frequencies * side).map { index in
    let (frequency, place) = (index / side + 1, index % side)
    let angle = Double.pi / 2 / Double(side) * Double(frequency * (2 * place + 1))
    return Float((2 / Double(side)).squareRoot() * cos(angle))
  }

  /// Computes the hash of pixels with three bytes: red, green and blue, in rows without padding.
  ///
  /// - Returns: `nil` for a picture below ``minimumSide``, or another number of bytes.
  public static func rated(
    width: Int, height: Int, rgb: UnsafeBufferPointer<UInt8>
  ) -> Rated? {
    guard min(width, height) >= minimumSide, rgb.count == 3 * width * height else { return nil }
    let square = Luminance(width: width, height: height, rgb: rgb).reduced(to: side)
    return Rated(hash: hash(of: transformed(square)), quality: quality(of: square))
  }

  /// The square in the lowest frequencies of both directions.
  private static func transformed(_ square: [Float]) -> [Float] {
    var rows = [Float](repeating: 0, count: frequencies * side)
    for frequency in 0..<frequencies {
      for column in 0..<side {
        var sum: Float = 0
        for row in 0..<side { sum += waves[frequency * side + row] * square[row * side + column] }
        rows[frequency * side + column] = sum
      }
    }
    return (0..<frequencies * frequencies).map { index in
      let (first, second) = (index / frequencies * side, index % frequencies * side)
      return (0..<side).reduce(into: Float(0)) { $0 += rows[first + $1] * waves[second + $1] }
    }
  }

  /// A bit for each frequency that is stronger than the median.
  private static func hash(of strengths: [Float]) -> PDQHash {
    let median = strengths.sorted()[strengths.count / 2 - 1]
    var bytes = [UInt8](repeating: 0, count: byteCount)
    for (index, strength) in strengths.enumerated() where strength > median {
      bytes[byteCount - 1 - index / 8] |= 1 << (index % 8)
    }
    return PDQHash(bytes)!
  }

  /// The sum of the differences between neighbours, in hundredths of the largest difference.
  private static func quality(of square: [Float]) -> Int {
    func step(_ one: Int, _ other: Int) -> Int {
      abs(Int((square[one] - square[other]) * 100 / 255))
    }
    var sum = 0
    for index in 0..<side * (side - 1) { sum += step(index, index + side) }
    for index in 0..<side * side where index % side < side - 1 { sum += step(index, index + 1) }
    return min(sum / 90, 100)
  }
}
