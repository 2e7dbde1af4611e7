import Crypto
public import FamilyCore
public import FamilyModel
import Foundation
import RelayWire

/// The vault of a device: Ed25519 for signatures, HPKE (X25519, HKDF-SHA256, AES-GCM-128) for key
/// wraps, AES-GCM for contents.
///
/// A relay orders and stores a family's events; devices do not trust it, and it cannot read
/// contents. docs/ThreatModel.md lists the attacks that signatures and seals stop.
public struct KeyVault: DeviceVault {
  private let keys: DeviceKeys
  private let cache: SignatureCache?
  public var agreementKey: [UInt8] { keys.agreementKey }

  /// The info of HPKE's key schedule; each use also has its own binding.
  private static let purpose = Data("permission-relay content key 1".utf8)
  private static let suite = HPKE.Ciphersuite(
    kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)
  /// Bytes of HPKE's encapsulated key.
  private static let encapsulated = 32

  /// Creates the vault of these keys.
  ///
  /// - Parameter cache: The verified signatures of the process's devices; `nil` for a single
  ///   device.
  public init(_ keys: DeviceKeys, sharing cache: SignatureCache? = nil) {
    self.keys = keys
    self.cache = cache
  }

  public func sign(_ bytes: [UInt8]) -> [UInt8] {
    // Signing does not fail with a valid key.
    let signature = Array(try! keys.signing.signature(for: bytes))
    cache?.insert(keys.signingKey, signature, bytes)
    return signature
  }

  public func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    cache?.verify(publicKey, signature, bytes) ?? Self.verify(publicKey, signature, bytes)
  }

  public func makeKey() -> [UInt8] {
    SymmetricKey(size: .bits256).withUnsafeBytes { [UInt8]($0) }
  }

  public func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    // A key of low order makes the shared secret zero, which this library does not refuse.
    guard !LowOrder.isAgreementKey(reader),
      let reader = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: reader),
      var sender = try? HPKE.Sender(
        recipientKey: reader, ciphersuite: Self.suite, info: Self.purpose),
      let sealed = try? sender.seal(key, authenticating: binding)
    else { return nil }
    return [UInt8](sender.encapsulatedKey) + [UInt8](sealed)
  }

  public func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    guard wrapped.count > Self.encapsulated,
      !LowOrder.isAgreementKey([UInt8](wrapped.prefix(Self.encapsulated))),
      var recipient = try? HPKE.Recipient(
        privateKey: keys.agreement, ciphersuite: Self.suite, info: Self.purpose,
        encapsulatedKey: Data(wrapped.prefix(Self.encapsulated))),
      let key = try? recipient.open(
        Data(wrapped.dropFirst(Self.encapsulated)), authenticating: binding),
      key.count == 32
    else { return nil }
    return [UInt8](key)
  }

  public func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8])
    -> Content
  {
    // The nonce is a keyed digest of the content: a retry seals the same bytes, which a proof of the
    // passcode covers, and another content never shares the nonce.
    let plain = content.bytes
    let nonce = digest(BoundBytes("permission-relay nonce 1").bytes + plain, under: key).prefix(12)
    // Sealing fails only for a key of the wrong length. All content keys have 32 bytes.
    let box = try! AES.GCM.seal(
      plain, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce),
      authenticating: binding)
    return .sealed(SealedContent(key: name, box: [UInt8](box.combined!)).bytes)
  }

  public func keyName(of content: Content) -> ContentKeyID? { Self.sealed(content)?.key }

  public func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    Public().open(content, key, binding: binding)
  }

  public func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] {
    Public().digest(bytes, under: key)
  }

  public func bytes(of content: Content) -> [UInt8] { content.bytes }
}

extension KeyVault {
  /// The operations without own keys, for apps and the relay.
  public struct Public: EvidenceVault {
    /// Creates a vault without keys.
    public init() {}

    public func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
      KeyVault.verify(publicKey, signature, bytes)
    }

    public func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
      guard let sealed = KeyVault.sealed(content),
        let box = try? AES.GCM.SealedBox(combined: sealed.box),
        let bytes = try? AES.GCM.open(
          box, using: SymmetricKey(data: key), authenticating: binding)
      else { return nil }
      return Content.sealed([UInt8](bytes)).openedIfKnown
    }

    public func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] {
      guard key.isEmpty else {
        return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
      }
      var (inner, outer) = KeyVault.emptyKeyHashes
      bytes.withUnsafeBytes { inner.update(bufferPointer: $0) }
      inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
      return outer.finalize().withUnsafeBytes { [UInt8]($0) }
    }

    public func bytes(of content: Content) -> [UInt8] { content.bytes }
  }

  /// Whether the Ed25519 signature of the bytes is valid under the public key.
  @Sendable public static func verify(
    _ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]
  ) -> Bool {
    guard !LowOrder.isSigningKey(publicKey),
      let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
    else { return false }
    return key.isValidSignature(signature, for: bytes)
  }

  /// The two hashes of HMAC (RFC 2104) after the blocks that it makes from the empty key. The library
  /// makes them for each digest, with a dozen allocations.
  private static let emptyKeyHashes = (inner: sha256(after: 0x36), outer: sha256(after: 0x5C))

  private static func sha256(after byte: UInt8) -> SHA256 {
    var hash = SHA256()
    hash.update(data: [UInt8](repeating: byte, count: SHA256.blockByteCount))
    return hash
  }

  /// The digest under the empty key, 32 bytes.
  @Sendable public static func digest(_ bytes: [UInt8]) -> [UInt8] {
    Public().digest(bytes, under: [])
  }

  private static func sealed(_ content: Content) -> SealedContent? {
    guard case .sealed(let bytes) = content else { return nil }
    return SealedContent(bytes)
  }
}
