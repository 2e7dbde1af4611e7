/// The hash of an event and of all events before it in its audience: 32 bytes, stored inline.
public struct ChainHash: Hashable, Sendable {
  /// Bytes of a hash.
  public static let byteCount = 32
  package var first: ID128
  package var second: ID128

  /// The hash before the first event: 32 zero bytes.
  public init() { self.init(first: ID128(high: 0, low: 0), second: ID128(high: 0, low: 0)) }

  package init(first: ID128, second: ID128) {
    self.first = first
    self.second = second
  }

  /// Reads 32 bytes; `nil` for any other count.
  public init?(bytes: [UInt8]) {
    guard let hash = bytes.withUnsafeBytes({ ChainHash(loading: $0) }) else { return nil }
    self = hash
  }

  /// Reads 32 bytes of memory; `nil` for any other count.
  package init?(loading bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.byteCount else { return nil }
    func number(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }
    self.init(
      first: ID128(high: number(0), low: number(1)), second: ID128(high: number(2), low: number(3)))
  }

  /// The 32 bytes.
  public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

  /// Calls the body with the ``bytes``.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    let parts = (
      first.high.bigEndian, first.low.bigEndian, second.high.bigEndian, second.low.bigEndian
    )
    return withUnsafeBytes(of: parts, body)
  }

  /// Whether this is the hash before the first event.
  package var isZero: Bool { self == ChainHash() }
}

/// A position of an audience's chain: an event and the hash up to it.
public struct ChainPosition: Hashable, Sendable {
  /// The event's sequence number; zero: before the first event.
  public var seq: UInt64
  /// The hash of the event and of all events before it.
  public var hash: ChainHash
  /// Creates a position; without arguments, the one before the first event.
  public init(seq: UInt64 = 0, hash: ChainHash = ChainHash()) {
    self.seq = seq
    self.hash = hash
  }
}

/// The head of an audience, as the signer of a removal knew it.
public struct AudienceHead: Hashable, Sendable {
  /// The audience.
  public var audience: Audience
  /// The newest event that the signer knew.
  public var position: ChainPosition
  /// Creates the head of `audience`.
  public init(_ audience: Audience, _ position: ChainPosition) {
    self.audience = audience
    self.position = position
  }
}

/// The history that the signer of a command knew. The signature covers it, so a reader notices that
/// the relay showed another history to the signer.
public struct Knowledge: Hashable, Sendable {
  /// The head of the family's audience. A reader that knows less defers the event, because the
  /// signer may have joined later.
  public var family: ChainPosition
  /// The head of the command's audience; empty if that is the family's.
  public var audience: ChainPosition
  /// The heads of the signer's audiences, if the command removes a device. Readers reject what the
  /// removed device signed after them.
  public var heads: [AudienceHead]
  /// The digest of the roster that a signed roster changes; zero for the first roster, and for other
  /// commands. An app has no chain of the family, and follows the rosters by it.
  public var roster: ChainHash
  /// Creates the knowledge of one signer.
  public init(
    family: ChainPosition = ChainPosition(), audience: ChainPosition = ChainPosition(),
    heads: [AudienceHead] = [], roster: ChainHash = ChainHash()
  ) {
    self.family = family
    self.audience = audience
    self.heads = heads
    self.roster = roster
  }
}
