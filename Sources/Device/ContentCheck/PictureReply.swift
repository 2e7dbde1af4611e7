public import PerceptualHash

/// A message with which a process replies to a picture.
public protocol PictureReply: Sendable {
  /// Bytes of the longest reply.
  static var maximumBytes: Int { get }
  /// The reply to a picture of a format that the process does not read.
  static var undecodable: Self { get }
  /// Reads a message; `nil` for other bytes.
  init?(_ bytes: [UInt8])
}

extension DecoderReply: PictureReply {}

extension ContentVerdict: PictureReply {
  public static var maximumBytes: Int { 1 }
  public static var undecodable: ContentVerdict { .unknown }

  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 1 else { return nil }
    self.init(rawValue: bytes[0])
  }
}
