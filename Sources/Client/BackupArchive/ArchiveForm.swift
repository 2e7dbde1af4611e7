import Crypto
public import Foundation

/// The form of a backup's file, and of a segment's.
///
/// | bytes | content |
/// |---|---|
/// | 16 | `permission-relay` |
/// | 1 | the version of the form: 2 |
/// | 2 | the length of the preamble, big-endian |
/// | … | an ``ArchivePreamble`` in JSON, which is readable without a key |
/// | 32 | the encapsulated key of HPKE |
/// | … | sealed chunks, each after its length in 4 bytes, big-endian |
///
/// Chunks are sealed with HPKE (RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305) to the operator's
/// public key, and the preamble is part of HPKE's `info`. The number of a chunk is in its nonce, and its
/// associated data says whether a chunk follows. Only the holder of the private key can change the
/// preamble, or reorder, drop or add chunks. The first chunk is an ``ArchiveHeader`` in JSON. The contents of its
/// files follow, one after the other.
///
/// A segment is sealed in HPKE's mode with a shared key, so that only its relay can make it.
enum ArchiveForm {
  static let magic = Data("permission-relay".utf8) + [2]
  static let keyBytes = 32
  /// The bytes of a chunk before it is sealed. The last chunk of the archive may have fewer.
  static let chunkBytes = 1 << 20
  /// The bytes that sealing adds.
  static let tagBytes = 16
  /// The most bytes of a preamble.
  static let preambleBytes = 1 << 12
  static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
  static let more = Data("more".utf8)
  static let last = Data("last".utf8)

  /// HPKE's `info` of an archive with this preamble.
  static func info(preamble: Data) -> Data { Data("permission-relay backup 2".utf8) + preamble }
}

/// The place of a backup or segment in its series.
public struct ArchivePreamble: Codable, Sendable, Hashable {
  /// 0 for the backup with which a series begins, then 1, 2, 3, … for its segments.
  public var number: Int
  /// The SHA-256 digest of the file before; `nil` for number 0.
  public var previous: Data?
  /// The number of the relay's events up to the end of the file.
  public var events: Int
  /// The checksum of the last of these events; 0 without one.
  public var checksum: UInt32
  /// When the file's content was complete, in seconds since 1970.
  public var completed: Double

  /// The place of an archive.
  public init(number: Int, previous: Data?, events: Int, checksum: UInt32, completed: Double) {
    self.number = number
    self.previous = previous
    self.events = events
    self.checksum = checksum
    self.completed = completed
  }
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
  /// The version of the program that wrote the backup.
  public var program: String
  /// The files, in the order of their contents.
  public var files: [File]
}

/// The secret that a relay's segments share with its backup. A backup holds it in `relay.json`.
public struct SegmentSecret: Sendable {
  static let identifier = Data("permission-relay segments".utf8)
  let key: SymmetricKey

  /// Derives the secret from the relay's own secret.
  public init(_ secret: [UInt8]) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Self.identifier, outputByteCount: 32)
  }
}

/// A backup cannot be written or read.
public struct ArchiveError: Error, CustomStringConvertible {
  /// The sentence, with the next step.
  public let description: String

  /// An error with this sentence.
  public init(description: String) { self.description = description }

  static func damage(_ archive: URL) -> ArchiveError {
    ArchiveError(
      description:
        "\(archive.path) is damaged, or was made for another key. Use its key, or another backup.")
  }
}
