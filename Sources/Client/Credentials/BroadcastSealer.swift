import CSodium
import Crypto

/// Seals broadcasts as ``ChannelCipher/seal(_:topic:key:)`` does, at a fraction of the cost.
///
/// swift-crypto allocates about ten objects per broadcast. libsodium, which libzmq depends on,
/// writes into an existing array.
///
/// A nonce is 8 random bytes and a counter of 4 bytes. The random bytes are drawn at the start and
/// whenever the counter is exhausted. So nonces never repeat, and sealing needs no system call.
package struct BroadcastSealer {
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// Whether libsodium offers AES-256-GCM, which needs the processor's AES instructions.
  private static let hasHardwareAES =
    sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() == 1

  private var prefix = UInt64.random(in: .min ... .max)
  private var counter: UInt32 = 0

  package init() {}

  private mutating func advanceNonce() {
    if counter == .max { self = BroadcastSealer() }
    counter += 1
  }

  /// Seals a broadcast with the topic as associated data.
  ///
  /// - Returns: Nonce, ciphertext and tag, as ``ChannelCipher/open(_:topic:key:)`` expects.
  package mutating func seal(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    advanceNonce()
    return withUnsafeBytes(of: (prefix, counter)) { nonce in
      Self.seal(bytes, topic: topic, key: key, nonce: nonce, behind: [])
    }
  }

  /// Seals a broadcast.
  ///
  /// - Returns: The frame, as ``SealedBroadcast/init(frame:)`` expects.
  package mutating func sealFrame(_ bytes: [UInt8], topic: [UInt8], key: [UInt8]) -> [UInt8] {
    advanceNonce()
    return withUnsafeBytes(of: (prefix, counter)) { nonce in
      Self.seal(bytes, topic: topic, key: key, nonce: nonce, behind: topic)
    }
  }

  /// Seals behind a name with its length; an empty name has no length.
  private static func seal(
    _ bytes: [UInt8], topic: [UInt8], key: [UInt8], nonce: UnsafeRawBufferPointer,
    behind name: [UInt8]
  ) -> [UInt8] {
    let nonce = UnsafeRawBufferPointer(rebasing: nonce[..<nonceBytes])
    guard hasHardwareAES else {
      let sealed = ChannelCipher.seal(bytes, topic: topic, key: key, nonce: nonce)
      return name.isEmpty ? sealed : SealedBroadcast(topic: name, sealed: sealed).frame
    }
    precondition(key.count == ChannelCipher.keyBytes)
    let start = name.isEmpty ? 0 : 1 + name.count
    let size = start + nonceBytes + bytes.count + tagBytes
    return [UInt8](unsafeUninitializedCapacity: size) { out, count in
      if start > 0 {
        out[0] = UInt8(name.count)
        _ = UnsafeMutableBufferPointer(rebasing: out[1...]).update(from: name)
      }
      let box = UnsafeMutableBufferPointer(rebasing: out[start...])
      UnsafeMutableRawBufferPointer(box).copyMemory(from: nonce)
      // Fails only above 64 GiB.
      crypto_aead_aes256gcm_encrypt(
        box.baseAddress! + nonceBytes, nil, bytes, UInt64(bytes.count), topic,
        UInt64(topic.count), nil, box.baseAddress!, key)
      count = size
    }
  }
}
