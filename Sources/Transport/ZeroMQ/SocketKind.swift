import CZeroMQ

/// The messaging pattern of a socket.
public enum SocketKind: Sendable, Hashable, CaseIterable {
  /// Many peers, each addressed by the first part of a message.
  case router
  /// Requests without waiting for their replies.
  case dealer
  /// Receives what it subscribed to.
  case sub
  /// Broadcasts to subscribers.
  case pub
  /// Broadcasts, and sees the subscriptions.
  case xpub
  /// Receives broadcasts, and sends subscriptions as messages.
  case xsub
  /// Exactly one peer.
  case pair
  /// Answers each request before the next.
  case rep
  /// Waits for each reply before the next request.
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

/// What a socket can do at once, as `ZMQ_EVENTS` tells it.
public struct SocketEvents: OptionSet, Sendable {
  /// The bits of `ZMQ_POLLIN` and `ZMQ_POLLOUT`.
  public let rawValue: Int32

  /// From the bits of `ZMQ_POLLIN` and `ZMQ_POLLOUT`.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// At least one message can be received.
  public static let readable = SocketEvents(rawValue: 1)
  /// At least one message can be sent to some peer.
  public static let writable = SocketEvents(rawValue: 2)
}
