public import FamilyModel

/// Cryptographic operations that need no private key; apps have only these.
public protocol EvidenceVault: Sendable {
  /// Whether the Ed25519 signature of the bytes is valid under the public key.
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool
  /// The opened content; `nil` for another key or binding, or an invalid content. A content of a kind
  /// that this version does not know is returned as its encoding, in `sealed`.
  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content?
  /// A keyed digest, 32 bytes. Without the key, no one can compute or check it.
  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8]
  /// The content's encoding as it travels.
  func bytes(of content: Content) -> [UInt8]
}

extension EvidenceVault {
  /// A digest under the empty key.
  func digest(_ bytes: [UInt8]) -> [UInt8] { digest(bytes, under: []) }
}
