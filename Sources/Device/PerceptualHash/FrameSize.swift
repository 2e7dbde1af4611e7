/// The sides of the small copies of frames, which a classifier receives in the place of the frames.
public struct FrameSize: Hashable, Sendable {
  /// The longest side of a copy.
  public static let longestSide = 160
  /// The most pixels of a copy. Their bytes are fewer than those of the largest picture of the content check.
  public static let mostPixels = 21_000

  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int

  /// Creates a size.
  public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

  /// The size of a frame's copy, which is never larger than the frame. Precondition: the sides are positive.
  public static func ofCopy(width: Int, height: Int) -> FrameSize {
    let (longest, area) = (Double(max(width, height)), Double(width) * Double(height))
    let scale = min(1, Double(longestSide) / longest, (Double(mostPixels) / area).squareRoot())
    return FrameSize(
      width: max(1, Int(Double(width) * scale)), height: max(1, Int(Double(height) * scale)))
  }
}
