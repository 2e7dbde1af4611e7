import CSodium
import Crypto

/// Seals broadcasts as ``ChannelCipher/seal(_:topic:key:)`` does, at a fraction of the cost: swift-crypto makes
/// some ten objects for each, and libsodium, which libzmq brings along, writes into an array that is there.
///
/// Nonces never come twice, and the system is not asked for each: eight random bytes, drawn at the start and
/// whenever the counter is used up, and four that count.
package struct BroadcastSealer {
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// libsodium's AES is for processors that have instructions for it.
  private static let isFast = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() == 1

  private var prefix = UInt64.random(in: .min ... .max)
  private var counter: UInt32 = 0

  package init() {}

  private mutating func count() {
    if counter == .max { self = BroadcastSealer() }
    counter += 1
  }

  /// Nonce, ciphertext and tag, as ``ChannelCipher/open(_:topic:key:)`` takes them; the topic is bound to them.
  package mutating func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    count()
    return withUnsafeBytes(of: (prefix, counter)) { nonce in
      Self.seal(bytes, topic: topic, key: key, nonce: nonce)
    }
  }

  private static func seal(
    _ bytes: [UInt8], topic: [UInt8], key: [UInt8], nonce: UnsafeRawBufferPointer
  ) -> [UInt8] {
    let nonce = UnsafeRawBufferPointer(rebasing: nonce[..<nonceBytes])
    guard isFast else { return ChannelCipher.seal(bytes, topic: topic, key: key, nonce: nonce) }
    precondition(key.count == ChannelCipher.keyBytes)
    let size = nonceBytes + bytes.count + tagBytes
    return [UInt8](unsafeUninitializedCapacity: size) { out, count in
      UnsafeMutableRawBufferPointer(out).copyMemory(from: nonce)
      // It fails for more bytes than there can be only.
      crypto_aead_aes256gcm_encrypt(
        out.baseAddress! + nonceBytes, nil, bytes, UInt64(bytes.count), topic,
        UInt64(topic.count), nil, out.baseAddress!, key)
      count = size
    }
  }
}
