import Crypto
import FamilyModel
import Synchronization

/// Valid signatures that the devices of one process share. A cached signature costs a hundredth of
/// a verification.
///
/// The cache holds only the validity of one signature of these bytes under this key. Each device
/// still checks authority and replay. Invalid signatures are not cached, so a peer without a key
/// cannot evict valid ones.
public final class SignatureCache: Sendable {
  /// The least number of signatures that a full cache keeps; the most is twice this number.
  package static let capacity = 1_024
  private let capacity: Int

  private typealias Digest = SHA256.Digest
  private let generations = Mutex<(newest: Set<Digest>, before: Set<Digest>)>(([], []))

  /// Creates an empty cache.
  public init() { capacity = Self.capacity }

  /// Creates an empty cache that keeps at least this number of signatures.
  package init(capacity: Int) { self.capacity = capacity }

  /// The number of cached signatures.
  package var count: Int { generations.withLock { $0.newest.count + $0.before.count } }

  /// Whether the Ed25519 signature of the bytes is valid under the public key.
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    guard let digest = Self.digest(publicKey, signature, bytes) else { return false }
    if generations.withLock({ $0.newest.contains(digest) || $0.before.contains(digest) }) {
      return true
    }
    guard KeyVault.verify(publicKey, signature, bytes) else { return false }
    insert(digest)
    return true
  }

  /// Adds a signature that this process made.
  func insert(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) {
    if let digest = Self.digest(publicKey, signature, bytes) { insert(digest) }
  }

  private func insert(_ digest: Digest) {
    generations.withLock { generations in
      if generations.newest.count >= capacity { generations = ([], generations.newest) }
      generations.newest.insert(digest)
    }
  }

  /// A digest of key, signature and bytes; `nil` if a length is wrong. Key and signature have fixed
  /// lengths, so different triples have different inputs.
  private static func digest(
    _ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]
  ) -> Digest? {
    guard publicKey.count == 32, signature.count == Signature.byteCount else { return nil }
    var digest = SHA256()
    digest.update(data: publicKey)
    digest.update(data: signature)
    digest.update(data: bytes)
    return digest.finalize()
  }
}
