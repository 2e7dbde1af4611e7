import Crypto

/// Nonces that never come twice, without asking the system for each: eight random bytes, drawn at the start
/// and whenever the counter is used up, and four that count.
struct Nonces {
  private var prefix = UInt64.random(in: .min ... .max)
  private var counter: UInt32 = 0

  mutating func next() -> AES.GCM.Nonce {
    if counter == .max { self = Nonces() }
    counter += 1
    let bytes = withUnsafeBytes(of: (prefix, counter)) { [UInt8]($0[..<12]) }
    // It fails for other lengths than twelve only.
    return try! AES.GCM.Nonce(data: bytes)
  }

  /// Seals a broadcast: see ``ChannelCipher/seal(_:topic:key:)``.
  mutating func seal(_ bytes: [UInt8], topic: [UInt8], key: SymmetricKey) -> [UInt8] {
    ChannelCipher.seal(bytes, topic: topic, key: key, nonce: next())
  }
}
