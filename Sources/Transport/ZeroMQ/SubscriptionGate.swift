/// What an XPUB socket received: a subscription, its end, or a message that is neither.
public struct SubscriptionEvent: Sendable, Hashable {
  /// What it asks for.
  public enum Kind: Sendable, Hashable {
    /// The peer wants a topic.
    case subscribe
    /// The peer wants a topic no more, or has gone.
    case unsubscribe
    /// A message of an XSUB peer: no honest client of ours sends one.
    case foreign
  }

  /// What it asks for.
  public let kind: Kind
  /// The topic; of a foreign message the first frame.
  public let topic: [UInt8]
  /// Who sent it, as the ``ZAPHandler`` named it; `nil` without CURVE, or when a peer has gone.
  public let userID: String?
  /// The connection over which it came, for ``ConnectionGuard``.
  public let descriptor: Int32?
  /// Whether an approval would reach the peer that asked.
  public let isApprovable: Bool
}

/// Receives what arrives at an XPUB socket in manual mode, and approves only when that is safe.
///
/// libzmq 4.3.4 keeps a queue of the connections that asked, and takes one off for *every* message
/// it hands out, but messages of an XSUB peer that are no subscriptions put none in. So after such
/// a message an approval could land on another peer's connection, until both queues are empty,
/// which is when a receive finds nothing. A subscription is a first frame that begins with 1, its
/// end one that begins with 0, whether SUB made it or XSUB sent it as a message.
///
/// This is no security boundary (a raw peer may still find a way, and nothing can be revoked):
/// what must be secret is encrypted.
public struct SubscriptionGate: ~Copyable {
  private var message = Multipart(maximumParts: 1)
  private var isOutOfStep = false

  /// A gate for one socket.
  public init() {}

  /// Handles what has arrived, up to `limit` messages.
  /// - Parameters:
  ///   - socket: the XPUB socket, always the same.
  ///   - limit: after how many messages to return, so that others have their turn.
  ///   - decide: tells whether a subscription is approved, for exactly the topic that it names; its
  ///     answer is ignored for everything that is not ``SubscriptionEvent/isApprovable``.
  /// - Returns: whether messages may be left.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain(
    _ socket: borrowing Socket, limit: Int = 1_000, _ decide: (SubscriptionEvent) -> Bool
  ) throws(ZeroMQError) -> Bool {
    for _ in 0..<limit {
      let result = try socket.receive(into: &message)
      if result == .nothing {
        isOutOfStep = false
        return false
      }
      let event = event(isSinglePart: result == .message)
      if decide(event), event.isApprovable {
        try socket.approve(subscription: event.topic)
      }
    }
    return true
  }

  private mutating func event(isSinglePart: Bool) -> SubscriptionEvent {
    let bytes = message.bytes(0)
    let (userID, descriptor) = (message.userID, message.descriptor)
    guard isSinglePart, let first = bytes.first, first <= 1 else {
      isOutOfStep = true
      return SubscriptionEvent(
        kind: .foreign, topic: bytes, userID: userID, descriptor: descriptor, isApprovable: false)
    }
    return SubscriptionEvent(
      kind: first == 1 ? .subscribe : .unsubscribe, topic: Array(bytes.dropFirst()),
      userID: userID, descriptor: descriptor, isApprovable: first == 1 && !isOutOfStep)
  }
}
