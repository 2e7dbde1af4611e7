import Crypto
import Foundation

/// The form of a backup's file.
///
/// | bytes | content |
/// |---|---|
/// | 16 | `permission-relay` |
/// | 1 | the version of the form: 1 |
/// | 32 | the encapsulated key of HPKE |
/// | … | sealed chunks, each after its length in 4 bytes, big-endian |
///
/// Chunks are sealed with HPKE (RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305) to the operator's
/// public key. The number of a chunk is in its nonce, and its associated data says whether a chunk
/// follows: nobody without the private key can reorder, drop or add chunks. The first chunk is an
/// ``ArchiveHeader`` in JSON. The contents of its files follow, one after the other.
enum ArchiveForm {
  static let magic = Data("permission-relay".utf8) + [1]
  static let keyBytes = 32
  /// The bytes of a chunk before it is sealed. The last chunk of the archive may have fewer.
  static let chunkBytes = 1 << 20
  /// The bytes that sealing adds.
  static let tagBytes = 16
  static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
  static let info = Data("permission-relay backup 1".utf8)
  static let more = Data("more".utf8)
  static let last = Data("last".utf8)
}

/// The content of a backup.
public struct ArchiveHeader: Codable, Sendable, Hashable {
  /// A file of the backup.
  public struct File: Codable, Sendable, Hashable {
    /// The name in the relay's folder.
    public var name: String
    /// The size in bytes.
    public var size: Int
  }
  /// When the copy of the store was complete, in seconds since 1970.
  public var completed: Double
  /// The version of the program that wrote the backup.
  public var program: String
  /// The files, in the order of their contents.
  public var files: [File]
}

/// A backup cannot be written or read.
public struct ArchiveError: Error, CustomStringConvertible {
  /// The sentence, with the next step.
  public let description: String
}
