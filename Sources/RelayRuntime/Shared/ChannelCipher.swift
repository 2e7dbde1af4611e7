import Crypto
import CryptoExtras
public import FamilyModel
import Foundation

/// Makes the topics and keys of channels from the relay's secret, and seals what is broadcast on them.
///
/// A topic is the AES permutation of the family, the audience and the generation: 16 bytes that look
/// random to everybody, and that the relay reads back without a table. Keys come from the topic by HKDF.
public struct ChannelCipher: Sendable {
  /// What a topic stands for.
  public struct Meaning: Hashable, Sendable {
    /// The family.
    public var family: FamilyID
    /// The audience.
    public var audience: Audience
    /// The generation; 16 bits of it.
    public var generation: UInt32
  }

  private let topicKey: SymmetricKey
  private let keySecret: SymmetricKey

  /// The channels of this secret of 32 bytes.
  public init(secret: [UInt8]) {
    let secret = SymmetricKey(data: secret)
    topicKey = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("topics".utf8), outputByteCount: 32)
    keySecret = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("keys".utf8), outputByteCount: 32)
  }

  /// The topic of the channel.
  public func topic(_ family: FamilyID, _ audience: Audience, generation: UInt32) -> [UInt8] {
    // The audience: 8 bits of kind, 32 of person; the generation: 16; a zero byte shows a forgery.
    let kind = audience.rawValue >> 32
    let person = audience.rawValue & 0xFFFF_FFFF
    let low = (kind << 56) | (person << 24) | (UInt64(generation & 0xFFFF) << 8)
    var block = ID128(high: family.rawValue, low: low).bytes
    try? AES.permute(&block, key: topicKey)
    return block
  }

  /// What the topic stands for; `nil` for bytes that are not one of ours.
  public func meaning(of topic: [UInt8]) -> Meaning? {
    guard topic.count == 16 else { return nil }
    var block = topic
    guard (try? AES.inversePermute(&block, key: topicKey)) != nil,
      let number = ID128(bytes: block), number.low & 0xFF == 0, (number.low >> 56) <= 2
    else { return nil }
    let audience = Audience(
      rawValue: ((number.low >> 56) << 32) | ((number.low >> 24) & 0xFFFF_FFFF))
    return Meaning(
      family: FamilyID(number.high), audience: audience,
      generation: UInt32((number.low >> 8) & 0xFFFF))
  }

  /// The key of the topic's channel, 32 bytes.
  public func key(of topic: [UInt8]) -> [UInt8] {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: keySecret, info: topic, outputByteCount: 32)
      .withUnsafeBytes { [UInt8]($0) }
  }

  /// Seals a broadcast: a random nonce, the ciphertext, the tag; the topic is bound to it.
  public static func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    // Sealing fails only for a key of a wrong length, which is not made anywhere.
    let box = try! AES.GCM.seal(bytes, using: SymmetricKey(data: key), authenticating: topic)
    return [UInt8](box.combined!)
  }

  /// Opens a broadcast; `nil` where it was not sealed under this key for this topic.
  public static func open(_ sealed: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: topic)
    else { return nil }
    return [UInt8](bytes)
  }
}
