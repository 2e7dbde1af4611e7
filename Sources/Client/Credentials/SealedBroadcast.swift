/// The second frame of a broadcast: the channel's topic behind its length, then the sealed bytes.
///
/// The relay seals a broadcast once for its channel, and publishes the same frame on the inbox of each
/// reader.
public struct SealedBroadcast: Hashable, Sendable {
  /// Names the channel; the sealed bytes authenticate it.
  public var topic: [UInt8]
  /// Nonce, ciphertext and tag, as ``ChannelCipher/open(_:topic:key:)`` expects.
  public var sealed: [UInt8]

  /// A frame of these parts.
  ///
  /// Precondition: the topic has fewer than 256 bytes.
  public init(topic: [UInt8], sealed: [UInt8]) {
    (self.topic, self.sealed) = (topic, sealed)
  }

  /// The parts of a frame; `nil` if the frame is shorter than its topic.
  public init?(frame: [UInt8]) {
    guard let length = frame.first, frame.count > Int(length) else { return nil }
    let start = 1 + Int(length)
    (topic, sealed) = ([UInt8](frame[1..<start]), [UInt8](frame[start...]))
  }

  /// The frame.
  public var frame: [UInt8] { [UInt8(topic.count)] + topic + sealed }
}
