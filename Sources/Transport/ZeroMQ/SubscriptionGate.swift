/// A message that an XPUB socket received: a subscription, its end, or a foreign message.
public struct SubscriptionEvent: Sendable, Hashable {
  /// The kinds of messages.
  public enum Kind: Sendable, Hashable {
    /// The peer subscribes to a topic.
    case subscribe
    /// The peer unsubscribes from a topic, or has disconnected.
    case unsubscribe
    /// An XSUB peer sent another message. Devices never do.
    case foreign
  }

  /// The message's kind.
  public let kind: Kind
  /// The topic; of a foreign message the first frame.
  public let topic: [UInt8]
  /// The sender's user id from the ``ZAPHandler``; `nil` without CURVE, or after a disconnection.
  public let userID: String?
  /// The sender's connection, for ``ConnectionGuard``.
  public let descriptor: Int32?
  /// Whether an approval would reach the sender.
  public let isApprovable: Bool
}

/// Receives the messages of an XPUB socket in manual mode, and approves subscriptions only when
/// that is safe.
///
/// libzmq 4.3.4 keeps a queue of subscribing connections and removes one for *every* message that
/// it delivers. Messages of an XSUB peer that are not subscriptions add none. After such a message,
/// an approval could reach another peer's connection, until both queues are empty. Both are empty
/// when a receive finds nothing.
///
/// The first byte of a subscription is 1 and that of its end is 0, whether SUB made the message or
/// XSUB sent it.
///
/// This is not a security boundary: a raw peer may find another way, and no approval can be
/// revoked. Broadcasts are encrypted for that reason.
public struct SubscriptionGate: ~Copyable {
  private var message = Multipart(maximumParts: 1)
  /// Whether libzmq's queues may be out of step after a foreign message.
  private var isMisaligned = false

  /// Creates a gate for one socket.
  public init() {}

  /// Handles the queued messages, up to `limit`.
  /// - Parameter socket: The XPUB socket, the same in every call.
  /// - Parameter limit: The most messages of one call, so that other handlers run.
  /// - Parameter decide: The topic to which the sender is subscribed, which need not be the requested
  ///   one; `nil` refuses. Ignored for events that are not ``SubscriptionEvent/isApprovable``.
  /// - Returns: Whether messages may remain.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain(
    _ socket: borrowing Socket, limit: Int = 1_000, _ decide: (SubscriptionEvent) -> [UInt8]?
  ) throws(ZeroMQError) -> Bool {
    for _ in 0..<limit {
      let result = try socket.receive(into: &message)
      if result == .nothing {
        isMisaligned = false
        return false
      }
      let event = event(isSinglePart: result == .message)
      if let topic = decide(event), event.isApprovable {
        try socket.approve(subscription: topic)
      }
    }
    return true
  }

  private mutating func event(isSinglePart: Bool) -> SubscriptionEvent {
    let bytes = message.bytes(0)
    let (userID, descriptor) = (message.userID, message.descriptor)
    guard isSinglePart, let first = bytes.first, first <= 1 else {
      isMisaligned = true
      return SubscriptionEvent(
        kind: .foreign, topic: bytes, userID: userID, descriptor: descriptor, isApprovable: false)
    }
    return SubscriptionEvent(
      kind: first == 1 ? .subscribe : .unsubscribe, topic: Array(bytes.dropFirst()),
      userID: userID, descriptor: descriptor, isApprovable: first == 1 && !isMisaligned)
  }
}
