import Crypto
import CryptoExtras
public import FamilyModel
import Foundation

/// Makes the topics and keys of channels from the relay's secret, and seals what is broadcast on them.
///
/// A topic is the AES permutation of the family's number, sixteen bytes that look random to everybody and
/// that the relay reads back without a table; then generation, person and kind, which its listeners know
/// anyway. The topics of a family so begin alike: in the tables of libzmq, which have a node for each byte
/// that topics do not share, they take half of the room. A key is two more permutations, of all of it.
public struct ChannelCipher: Sendable {
  /// What a topic stands for.
  public struct Meaning: Hashable, Sendable {
    /// The family.
    public var family: FamilyID
    /// The audience.
    public var audience: Audience
    /// The generation, of 24 bits.
    public var generation: UInt32

    package init(family: FamilyID, audience: Audience, generation: UInt32) {
      self.family = family
      self.audience = audience
      self.generation = generation
    }
  }

  /// Bytes of the relay's secret, and of a channel's key.
  public static let keyBytes = 32

  private static let blockBytes = 16

  private let topicKey: SymmetricKey
  private let keyHalves: (SymmetricKey, SymmetricKey)

  /// The channels of this secret of 32 bytes.
  public init(secret: [UInt8]) {
    precondition(secret.count == Self.keyBytes, "the secret has 32 bytes")
    let secret = SymmetricKey(data: secret)
    func derived(_ purpose: String) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: secret, info: Data(purpose.utf8), outputByteCount: Self.keyBytes)
    }
    topicKey = derived("topics")
    keyHalves = (derived("keys, first half"), derived("keys, second half"))
  }

  /// The topic of the channel: 19 bytes or a few more. None is the beginning of another one, which for
  /// libzmq would be a subscription to both.
  public func topic(_ family: FamilyID, _ audience: Audience, generation: UInt32) -> [UInt8] {
    var topic = permuted(ID128(high: family.rawValue, low: 0), topicKey)
    for number in [generation & 0xFF_FFFF, UInt32(truncatingIfNeeded: audience.rawValue)] {
      var rest = number
      while rest > 0x7F {
        topic.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      topic.append(UInt8(truncatingIfNeeded: rest))
    }
    topic.append(UInt8(truncatingIfNeeded: audience.rawValue >> 32))
    return topic
  }

  /// What the topic stands for; `nil` for bytes that are not one of ours: the half of the first block that
  /// is zero says so, and nobody without the secret guesses one.
  public func meaning(of topic: [UInt8]) -> Meaning? {
    var block = Array(topic.prefix(Self.blockBytes))
    guard block.count == Self.blockBytes,
      (try? AES.inversePermute(&block, key: topicKey)) != nil,
      let number = ID128(bytes: block), number.high != 0, number.low == 0
    else { return nil }
    var rest = topic[Self.blockBytes...]
    func next() -> UInt64? {
      var (number, shift): (UInt64, UInt64) = (0, 0)
      while shift < 35, let byte = rest.popFirst() {
        number |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return number }
        shift += 7
      }
      return nil
    }
    // The family's audience has no person, and every other has one.
    guard let generation = next(), let person = next(), let kind = rest.popFirst(), kind <= 2,
      generation <= 0xFF_FFFF, person <= UInt32.max, (kind == 0) == (person == 0)
    else { return nil }
    let meaning = Meaning(
      family: FamilyID(number.high), audience: Audience(rawValue: UInt64(kind) << 32 | person),
      generation: UInt32(generation))
    // Each channel has one topic: no other way to write its numbers, and nothing behind them.
    let own = self.topic(meaning.family, meaning.audience, generation: meaning.generation)
    return own == topic ? meaning : nil
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
    // It fails for keys and blocks of other lengths only.
    try! AES.permute(&block, key: key)
    return block
  }

  /// Seals a broadcast: a random nonce, the ciphertext, the tag; the topic is bound to it.
  public static func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    // It fails for a key of a wrong length only, which is not made anywhere.
    let box = try! AES.GCM.seal(bytes, using: SymmetricKey(data: key), authenticating: topic)
    return [UInt8](box.combined!)
  }

  /// Seals as ``seal(_:topic:key:)`` does, with a nonce that the caller knows to be new under the key.
  static func seal(
    _ bytes: [UInt8], topic: [UInt8], key: [UInt8], nonce: UnsafeRawBufferPointer
  ) -> [UInt8] {
    // It fails for a key or a nonce of a wrong length only, which is not made anywhere.
    let box = try! AES.GCM.seal(
      bytes, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: Data(nonce)),
      authenticating: topic)
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
