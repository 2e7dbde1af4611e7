/// A message of a decoder about a video: frames in order, and then the end.
public enum VideoReply: Hashable, Sendable {
  /// A frame, as a small copy.
  case frame(VideoFrame)
  /// The video has no further frame.
  case end
  /// The bytes are no supported video, or they are damaged.
  case undecodable

  /// Bytes of the longest message.
  public static let maximumBytes = VideoFrame.headerBytes + 3 * FrameSize.mostPixels

  /// The message.
  public var bytes: [UInt8] {
    switch self {
    case .frame(let frame): frame.bytes
    case .end: [VideoFrame.kind + 1]
    case .undecodable: [VideoFrame.kind + 2]
    }
  }

  /// Reads a message; `nil` for other bytes.
  public init?(_ bytes: [UInt8]) {
    switch (bytes.first, bytes.count) {
    case (VideoFrame.kind + 1, 1): self = .end
    case (VideoFrame.kind + 2, 1): self = .undecodable
    default:
      guard let frame = VideoFrame(bytes) else { return nil }
      self = .frame(frame)
    }
  }
}

/// A frame of a video as a small copy.
public struct VideoFrame: Hashable, Sendable {
  static let kind: UInt8 = 3
  static let headerBytes = 11

  /// The sides of the copy.
  public let size: FrameSize
  /// The frame's time in the video, in milliseconds.
  public let time: UInt32
  /// The duration of the video, in milliseconds; 0 if the file does not name one.
  public let duration: UInt32
  /// Red, green and blue for each pixel, in rows.
  public let rgb: [UInt8]

  /// Creates a frame. Precondition: three values for each pixel.
  public init(size: FrameSize, time: UInt32, duration: UInt32, rgb: [UInt8]) {
    precondition(rgb.count == 3 * size.width * size.height)
    self.size = size
    self.time = time
    self.duration = duration
    self.rgb = rgb
  }

  /// The message: kind, sides of one byte each, time, duration and pixels. Numbers are big-endian.
  var bytes: [UInt8] {
    [Self.kind, UInt8(size.width), UInt8(size.height)]
      + [time, duration].flatMap { value in
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
      } + rgb
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count > Self.headerBytes, bytes[0] == Self.kind else { return nil }
    size = FrameSize(width: Int(bytes[1]), height: Int(bytes[2]))
    guard bytes.count == Self.headerBytes + 3 * size.width * size.height else { return nil }
    func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
    time = number(3..<7)
    duration = number(7..<11)
    rgb = Array(bytes[Self.headerBytes...])
  }
}
