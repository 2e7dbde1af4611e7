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
    /// The generation, of 24 bits.
    public var generation: UInt32
  }

  /// Bytes of a topic.
  public static let topicBytes = 16
  /// Bytes of the relay's secret, and of a channel's key.
  public static let keyBytes = 32

  private let topicKey: SymmetricKey
  /// What HKDF extracts from the keys' secret: the same for each key, and half of its cost.
  private let keySource: SymmetricKey

  /// The channels of this secret of 32 bytes.
  public init(secret: [UInt8]) {
    precondition(secret.count == Self.keyBytes, "the secret has 32 bytes")
    let secret = SymmetricKey(data: secret)
    topicKey = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("topics".utf8), outputByteCount: Self.keyBytes)
    let keySecret = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("keys".utf8), outputByteCount: Self.keyBytes)
    keySource = SymmetricKey(
      data: HKDF<SHA256>.extract(inputKeyMaterial: keySecret, salt: [UInt8]()))
  }

  /// The topic of the channel.
  public func topic(_ family: FamilyID, _ audience: Audience, generation: UInt32) -> [UInt8] {
    // The second half: 2 bits of kind, 32 of person, 24 of generation, and 6 that stay zero: of the
    // guesses of somebody without the secret 98% do not even name a family that would be looked up.
    let kind = audience.rawValue >> 32
    let person = audience.rawValue & 0xFFFF_FFFF
    let low = kind << 62 | person << 30 | UInt64(generation & 0xFF_FFFF) << 6
    var block = ID128(high: family.rawValue, low: low).bytes
    // It fails for keys and blocks of other lengths only.
    try! AES.permute(&block, key: topicKey)
    return block
  }

  /// What the topic stands for; `nil` for bytes that are not one of ours.
  public func meaning(of topic: [UInt8]) -> Meaning? {
    guard topic.count == Self.topicBytes else { return nil }
    var block = topic
    guard (try? AES.inversePermute(&block, key: topicKey)) != nil,
      let number = ID128(bytes: block), number.high != 0, number.low & 0x3F == 0
    else { return nil }
    let kind = number.low >> 62
    let person = number.low >> 30 & 0xFFFF_FFFF
    // The family's audience has no person, and every other has one.
    guard kind <= 2, (kind == 0) == (person == 0) else { return nil }
    return Meaning(
      family: FamilyID(number.high), audience: Audience(rawValue: kind << 32 | person),
      generation: UInt32(number.low >> 6 & 0xFF_FFFF))
  }

  /// The key of the topic's channel, 32 bytes.
  public func key(of topic: [UInt8]) -> [UInt8] {
    HKDF<SHA256>.expand(
      pseudoRandomKey: keySource, info: topic, outputByteCount: Self.keyBytes
    ).withUnsafeBytes { [UInt8]($0) }
  }

  /// Seals a broadcast: a random nonce, the ciphertext, the tag; the topic is bound to it.
  public static func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    // It fails for a key of a wrong length only, which is not made anywhere.
    let box = try! AES.GCM.seal(bytes, using: SymmetricKey(data: key), authenticating: topic)
    return [UInt8](box.combined!)
  }

  /// Seals as ``seal(_:topic:key:)`` does, with a nonce that the caller knows to be new under the key.
  static func seal(_ bytes: [UInt8], topic: [UInt8], key: SymmetricKey, nonce: AES.GCM.Nonce)
    -> [UInt8]
  {
    // It fails for a key of a wrong length only, which is not made anywhere.
    let box = try! AES.GCM.seal(bytes, using: key, nonce: nonce, authenticating: topic)
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
