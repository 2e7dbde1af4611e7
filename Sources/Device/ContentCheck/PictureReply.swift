import CPictureExchange
public import PerceptualHash

/// A message with which a process replies to a picture.
public protocol PictureReply: Sendable {
  /// The number that is added to a picture's format. A process with several replies has several.
  static var request: Int32 { get }
  /// Bytes of the longest reply.
  static var maximumBytes: Int { get }
  /// The reply to a picture of a format that the process does not read.
  static var undecodable: Self { get }
  /// Reads a message; `nil` for other bytes.
  init?(_ bytes: [UInt8])
}

extension PictureReply {
  /// Nothing.
  public static var request: Int32 { 0 }
}

extension DecoderReply: PictureReply {}

extension BlurReply: PictureReply {
  /// The number that requests a blurred picture.
  public static var request: Int32 { Int32(picture_blurred) }
}

extension ContentVerdict: PictureReply {
  public static var maximumBytes: Int { 1 }
  public static var undecodable: ContentVerdict { .unknown }

  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 1 else { return nil }
    self.init(rawValue: bytes[0])
  }
}
