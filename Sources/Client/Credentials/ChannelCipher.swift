import Crypto
import CryptoExtras
public import FamilyModel
import Foundation

/// Derives the topics and keys of channels from the relay's secret, and seals broadcasts.
///
/// A topic is the AES permutation of the family's number (16 bytes), then generation, person and
/// kind. The permutation looks random to everybody else, and the relay inverts it without a table.
/// The other parts are known to the channel's readers anyway.
///
/// All topics of a family share their first 16 bytes. libzmq's subscription tries store a shared
/// prefix once, so they need half of the memory that random topics would. A key is two more
/// permutations of all four numbers.
public struct ChannelCipher: Sendable {
  /// The channel that a topic names.
  public struct ChannelID: Hashable, Sendable {
    /// The family.
    public var family: FamilyID
    /// The audience.
    public var audience: Audience
    /// The number of the channel's key, 24 bits.
    public var generation: UInt32

    package init(family: FamilyID, audience: Audience, generation: UInt32) {
      self.family = family
      self.audience = audience
      self.generation = generation
    }
  }

  /// Size of the relay's secret and of a channel's key, in bytes.
  public static let keyBytes = 32

  private static let blockBytes = 16

  private let topicKey: SymmetricKey
  private let keyHalves: (SymmetricKey, SymmetricKey)

  /// Creates a cipher from the relay's secret.
  ///
  /// Precondition: the secret has ``keyBytes`` bytes.
  public init(secret: [UInt8]) {
    precondition(secret.count == Self.keyBytes, "the secret has 32 bytes")
    topicKey = SymmetricKey(for: "topics", of: secret)
    keyHalves = (
      SymmetricKey(for: "keys, first half", of: secret),
      SymmetricKey(for: "keys, second half", of: secret)
    )
  }

  /// The topic of the channel, 19 to 26 bytes. No topic is a prefix of another, because libzmq
  /// would treat the shorter one as a subscription to both.
  public func topic(_ family: FamilyID, _ audience: Audience, generation: UInt32) -> [UInt8] {
    var topic = permuted(ID128(high: family.rawValue, low: 0), topicKey)
    for number in [generation & 0xFF_FFFF, UInt32(truncatingIfNeeded: audience.rawValue)] {
      Varint.append(UInt64(number), to: &topic)
    }
    topic.append(UInt8(truncatingIfNeeded: audience.rawValue >> 32))
    return topic
  }

  /// The channel of a topic.
  ///
  /// - Returns: `nil` if the relay did not make the topic. The zero half of the permuted block is
  ///   the proof: guessing a topic without the secret means guessing 64 bits.
  public func channelID(of topic: [UInt8]) -> ChannelID? {
    var block = Array(topic.prefix(Self.blockBytes))
    guard block.count == Self.blockBytes,
      (try? AES.inversePermute(&block, key: topicKey)) != nil,
      let number = ID128(bytes: block), number.high != 0, number.low == 0,
      let (generation, audience) = topic.withUnsafeBytes(Self.generationAndAudience)
    else { return nil }
    let id = ChannelID(
      family: FamilyID(number.high), audience: audience, generation: generation)
    // Each channel has exactly one topic: other encodings of its numbers and trailing bytes are
    // invalid.
    let canonical = self.topic(id.family, id.audience, generation: id.generation)
    return canonical == topic ? id : nil
  }

  private static func generationAndAudience(_ topic: UnsafeRawBufferPointer) -> (UInt32, Audience)?
  {
    var position = blockBytes
    guard let generation = Varint.read(topic, at: &position), generation <= 0xFF_FFFF,
      let person = Varint.read(topic, at: &position), person <= UInt32.max,
      position < topic.count, case let kind = UInt64(topic[position]), kind <= 2,
      // The family audience has no person; every other audience has one.
      (kind == 0) == (person == 0)
    else { return nil }
    return (UInt32(generation), Audience(rawValue: kind << 32 | person))
  }

  /// The channel's key, 32 bytes.
  public func key(_ family: FamilyID, _ audience: Audience, generation: UInt32) -> [UInt8] {
    let kind = audience.rawValue >> 32
    let person = audience.rawValue & 0xFFFF_FFFF
    let low = kind << 56 | person << 24 | UInt64(generation & 0xFF_FFFF)
    let block = ID128(high: family.rawValue, low: low)
    return permuted(block, keyHalves.0) + permuted(block, keyHalves.1)
  }

  private func permuted(_ number: ID128, _ key: SymmetricKey) -> [UInt8] {
    var block = number.bytes
    // Throws only for keys and blocks of other lengths.
    try! AES.permute(&block, key: key)
    return block
  }

  /// Seals a broadcast with a random nonce and the topic as associated data.
  ///
  /// - Returns: The nonce (12 bytes), the ciphertext and the tag (16 bytes).
  public static func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    // Throws only for a key of another length.
    let box = try! AES.GCM.seal(bytes, using: SymmetricKey(data: key), authenticating: topic)
    return [UInt8](box.combined!)
  }

  /// Seals as ``seal(_:topic:key:)`` does, with the caller's nonce of 12 bytes.
  ///
  /// Precondition: the nonce was never used with the key.
  static func seal(
    _ bytes: [UInt8], topic: [UInt8], key: [UInt8], nonce: UnsafeRawBufferPointer
  ) -> [UInt8] {
    // Throws only for a key or a nonce of another length.
    let box = try! AES.GCM.seal(
      bytes, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: Data(nonce)),
      authenticating: topic)
    return [UInt8](box.combined!)
  }

  /// Opens a broadcast.
  ///
  /// - Returns: `nil` unless the bytes were sealed under this key for this topic.
  public static func open(_ sealed: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: topic)
    else { return nil }
    return [UInt8](bytes)
  }
}

extension SymmetricKey {
  /// The key of 32 bytes that the relay's secret yields for one purpose.
  init(for purpose: String, of secret: [UInt8]) {
    self = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Data(purpose.utf8),
      outputByteCount: ChannelCipher.keyBytes)
  }
}
