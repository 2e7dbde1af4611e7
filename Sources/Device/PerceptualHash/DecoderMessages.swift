/// The first message of a decoder: what confines it.
public struct DecoderGreeting: Hashable, Sendable {
  /// Whether the kernel ends the decoder at any system call that decoding does not need.
  public var isConfined: Bool
  /// Whether the decoder has namespaces of its own, without a network.
  public var hasNamespaces: Bool
  /// Whether Landlock denies every file.
  public var hasLandlock: Bool

  /// Creates a greeting.
  public init(isConfined: Bool, hasNamespaces: Bool, hasLandlock: Bool) {
    self.isConfined = isConfined
    self.hasNamespaces = hasNamespaces
    self.hasLandlock = hasLandlock
  }

  /// The message.
  public var bytes: [UInt8] { [isConfined, hasNamespaces, hasLandlock].map { $0 ? 1 : 0 } }

  /// Reads a message; `nil` for other bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 3 else { return nil }
    self.init(
      isConfined: bytes[0] == 1, hasNamespaces: bytes[1] == 1, hasLandlock: bytes[2] == 1)
  }
}

/// The reply of a decoder to a picture.
public enum DecoderReply: Hashable, Sendable {
  /// The picture's hash.
  case hashed(PDQHash.Rated)
  /// The picture has too few pixels for a hash.
  case tooSmall
  /// The bytes are no picture of their format.
  case undecodable

  /// Bytes of the longest reply.
  public static let maximumBytes = 2 + PDQHash.byteCount

  /// The message.
  public var bytes: [UInt8] {
    switch self {
    case .hashed(let rated): [0, UInt8(rated.quality)] + rated.hash.bytes
    case .tooSmall: [1]
    case .undecodable: [2]
    }
  }

  /// Reads a message; `nil` for other bytes.
  public init?(_ bytes: [UInt8]) {
    switch (bytes.first, bytes.count) {
    case (0, Self.maximumBytes):
      guard let hash = PDQHash(bytes.dropFirst(2)), bytes[1] <= 100 else { return nil }
      self = .hashed(PDQHash.Rated(hash: hash, quality: Int(bytes[1])))
    case (1, 1): self = .tooSmall
    case (2, 1): self = .undecodable
    default: return nil
    }
  }
}
