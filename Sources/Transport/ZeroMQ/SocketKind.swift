import CZeroMQ

/// The messaging pattern of a socket.
public enum SocketKind: Sendable, Hashable, CaseIterable {
  /// Exchanges messages with many peers. The first part of each message is the peer's routing id.
  case router
  /// Sends requests without waiting for their replies.
  case dealer
  /// Receives broadcasts of subscribed topics.
  case sub
  /// Broadcasts to subscribers.
  case pub
  /// Broadcasts, and receives the subscriptions.
  case xpub
  /// Receives broadcasts, and sends subscriptions as messages.
  case xsub
  /// Exchanges messages with exactly one peer.
  case pair
  /// Replies to each request before the next receive.
  case rep
  /// Receives each reply before the next request.
  case req

  var number: Int32 {
    switch self {
    case .router: ZMQ_ROUTER
    case .dealer: ZMQ_DEALER
    case .sub: ZMQ_SUB
    case .pub: ZMQ_PUB
    case .xpub: ZMQ_XPUB
    case .xsub: ZMQ_XSUB
    case .pair: ZMQ_PAIR
    case .rep: ZMQ_REP
    case .req: ZMQ_REQ
    }
  }
}

/// The operations of a socket that would not block, from `ZMQ_EVENTS`.
public struct SocketEvents: OptionSet, Sendable {
  /// The bits of `ZMQ_POLLIN` and `ZMQ_POLLOUT`.
  public let rawValue: Int32

  /// Creates a set from the bits of `ZMQ_POLLIN` and `ZMQ_POLLOUT`.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// At least one message can be received.
  public static let readable = SocketEvents(rawValue: 1)
  /// At least one message can be sent to at least one peer.
  public static let writable = SocketEvents(rawValue: 2)
}
