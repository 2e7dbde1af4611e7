import Crypto
import FamilyModel
import Synchronization

/// Signatures that were found right, shared by the devices of one process: what one device of a family has
/// verified, or made, the others need not verify again, which costs a hundred times as much.
///
/// It is the verification itself that is remembered, for exactly this key, this signature and these bytes;
/// who may sign what, and whether it is a repetition, each device decides by itself. A signature that is
/// wrong is not remembered, so that nobody without a key pushes out those that are right.
public final class Verified: Sendable {
  /// Signatures that are remembered: the newest so many at least, and twice as many at most.
  package static let remembered = 1_024

  private typealias Claim = SHA256.Digest
  private let known = Mutex<(newest: Set<Claim>, before: Set<Claim>)>(([], []))

  /// Nothing was verified yet.
  public init() {}

  /// How many are remembered.
  package var count: Int { known.withLock { $0.newest.count + $0.before.count } }

  /// Whether the signature is of the bytes, by whoever has this Ed25519 public key.
  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    guard let claim = Self.claim(publicKey, signature, bytes) else { return false }
    if known.withLock({ $0.newest.contains(claim) || $0.before.contains(claim) }) { return true }
    guard KeyVault.verify(publicKey, signature, bytes) else { return false }
    remember(claim)
    return true
  }

  /// The signature was made here, with this key.
  func made(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) {
    if let claim = Self.claim(publicKey, signature, bytes) { remember(claim) }
  }

  private func remember(_ claim: Claim) {
    known.withLock { known in
      if known.newest.count >= Self.remembered { known = ([], known.newest) }
      known.newest.insert(claim)
    }
  }

  /// A digest of all three; `nil` for what is no key or no signature: their lengths are fixed, so that no two
  /// claims are of the same bytes.
  private static func claim(
    _ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]
  ) -> Claim? {
    guard publicKey.count == 32, signature.count == Signature.byteCount else { return nil }
    var digest = SHA256()
    digest.update(data: publicKey)
    digest.update(data: signature)
    digest.update(data: bytes)
    return digest.finalize()
  }
}
