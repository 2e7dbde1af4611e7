/// An audience as the sockets see it: a topic and a key for one generation of readers.
public struct Channel: Hashable, Sendable {
  /// The audience whose events are broadcast.
  public var audience: Audience
  /// The number of the channel's key; it grows when a reader leaves. Each generation has its own
  /// topic and key.
  public var generation: UInt32
  /// The audience's last event.
  public var head: UInt64
  /// The hash of the chain up to `head`.
  public var hash: ChainHash
  /// Names the channel in its broadcasts. The machine leaves it empty; the shell, which holds the
  /// relay's secret, fills it in.
  public var topic: [UInt8] = []
  /// The key, 32 bytes, filled in by the shell.
  public var key: [UInt8] = []
  /// The largest `delivered` and `read` of any guardian's device.
  public var receipt: Receipt
  /// Creates the channel of `audience`.
  public init(
    audience: Audience, generation: UInt32, head: UInt64, hash: ChainHash = ChainHash(),
    receipt: Receipt = Receipt()
  ) {
    self.audience = audience
    self.generation = generation
    self.head = head
    self.hash = hash
    self.receipt = receipt
  }
}

/// The guardians' progress in one conversation.
public struct Receipt: Hashable, Sendable {
  /// The last event that at least one guardian's device applied.
  public var delivered: UInt64
  /// The last event that at least one guardian has seen.
  public var read: UInt64
  /// Creates a receipt up to these events.
  public init(delivered: UInt64 = 0, read: UInt64 = 0) {
    self.delivered = delivered
    self.read = read
  }
}

/// A message that the relay publishes on a channel. Only events form the chain; the others are
/// hints and may be lost.
public enum Broadcast: Hashable, Sendable {
  /// A committed event.
  case event(Event)
  /// The audience's last event is `seq`.
  case head(Audience, seq: UInt64)
  /// The guardians' progress.
  case receipt(Audience, Receipt)
}
