import CZeroMQ

/// The options of a socket. libzmq applies most of them at bind or connect, so they are set when
/// the socket is opened.
///
/// Heartbeats (`ZMQ_HEARTBEAT_IVL`) are omitted on purpose: libzmq 4.3.4 aborts the process when a
/// reader stalls past their timeout. Routing ids are omitted too, because a client that chooses its
/// own could choose another's. The option `ZMQ_IMMEDIATE` is omitted as well: with it, the end of a
/// connection between two parts of a message aborts the process. See
/// ``Socket/renewConnection(to:)``.
public struct SocketOptions: Sendable {
  /// Time that unsent messages are kept after the close; `nil` is unlimited.
  public var linger: Nanoseconds? = .zero
  /// Messages queued for one slow peer; 0 is unlimited.
  public var sendHighWaterMark: Int32 = 1_000
  /// Received messages queued from one peer; 0 is unlimited.
  public var receiveHighWaterMark: Int32 = 1_000
  /// The largest accepted frame in bytes; -1 is unlimited. libzmq disconnects the sender of a
  /// larger one.
  public var maximumMessageSize: Int64 = 1 << 20
  /// ROUTER: a message to an unknown peer is ``SendResult/unreachable``, not dropped.
  public var routerMandatory = true
  /// XPUB: a subscription takes effect only after ``Socket/approve(subscription:)``.
  public var xpubManual = false
  /// XPUB: every subscription and unsubscription is received, including repeated ones.
  public var xpubVerboser = false
  /// XPUB: a message is ``SendResult/full`` if the queue of a subscriber is full. Otherwise libzmq drops
  /// it for that subscriber, and reports it as sent.
  public var xpubReportsFullQueues = false
  /// The first delay before a reconnect. libzmq adds a random delay of up to the
  /// same length.
  public var reconnectInterval = Nanoseconds.milliseconds(10)
  /// The upper bound of the doubling reconnect delay; zero keeps the delay constant.
  public var reconnectIntervalMaximum = Nanoseconds.seconds(1)
  /// The timeout of a handshake; zero is unlimited.
  public var handshakeInterval = Nanoseconds.seconds(10)
  /// TCP connections that may be queued before they are accepted.
  public var backlog: Int32 = 1_024
  /// CURVE role and keys; `nil` is plain text, for inproc and tests.
  public var security: CurveSecurity?
  /// The domain that the process's ``ZAPHandler`` receives with this socket's clients.
  public var zapDomain: String?

  /// Creates the default options.
  public init() {}

  /// Draws the delays of this connection's reconnects: the first one, and the bound of the doubling.
  ///
  /// libzmq adds a random delay of at most ``reconnectInterval``, also to a long one. The connections
  /// to a server that is back would otherwise arrive together.
  public mutating func spreadReconnects() {
    reconnectInterval = .milliseconds(Int.random(in: Self.firstReconnect))
    reconnectIntervalMaximum = .milliseconds(Int.random(in: Self.longestReconnect))
  }

  /// The bounds of the delays that ``spreadReconnects()`` draws, in milliseconds.
  static let (firstReconnect, longestReconnect) = (50...150, 5_000...10_000)

  func apply(to handle: SocketHandle, kind: SocketKind) throws(ZeroMQError) {
    try handle.set(ZMQ_LINGER, linger.map(Self.milliseconds) ?? -1)
    try handle.set(ZMQ_SNDHWM, sendHighWaterMark)
    try handle.set(ZMQ_RCVHWM, receiveHighWaterMark)
    try handle.set(ZMQ_MAXMSGSIZE, maximumMessageSize)
    try handle.set(ZMQ_RECONNECT_IVL, Self.milliseconds(reconnectInterval))
    try handle.set(ZMQ_RECONNECT_IVL_MAX, Self.milliseconds(reconnectIntervalMaximum))
    try handle.set(ZMQ_HANDSHAKE_IVL, Self.milliseconds(handshakeInterval))
    try handle.set(ZMQ_BACKLOG, backlog)
    if kind == .router, routerMandatory { try handle.enable(ZMQ_ROUTER_MANDATORY) }
    if kind == .xpub, xpubManual { try handle.enable(ZMQ_XPUB_MANUAL) }
    if kind == .xpub, xpubVerboser { try handle.enable(ZMQ_XPUB_VERBOSER) }
    if kind == .xpub, xpubReportsFullQueues { try handle.enable(ZMQ_XPUB_NODROP) }
    if let zapDomain { try handle.set(ZMQ_ZAP_DOMAIN, Array(zapDomain.utf8)) }
    try security?.apply(to: handle)
  }

  private static func milliseconds(_ time: Nanoseconds) -> Int32 {
    Int32(clamping: time.millisecondsRoundedUp)
  }
}
