import CZeroMQ

/// The settings of a socket. libzmq takes most of them over at bind or connect, so they are given
/// when the socket is made.
///
/// Heartbeats (`ZMQ_HEARTBEAT_IVL`) are left out on purpose: libzmq 4.3.4 aborts the process when
/// a reader stalls past their timeout. Routing ids are left out too: a client that could choose
/// its own could take another's.
public struct SocketOptions: Sendable {
  /// How long unsent messages live after the close, in milliseconds; -1 is for ever.
  public var linger: Int32 = 0
  /// How many messages wait for one slow peer; 0 is without limit.
  public var sendHighWaterMark: Int32 = 1_000
  /// How many received messages of one peer wait for us; 0 is without limit.
  public var receiveHighWaterMark: Int32 = 1_000
  /// The largest accepted frame in bytes; -1 is without limit. Who sends a larger one is cut off.
  public var maximumMessageSize: Int64 = 1 << 20
  /// ROUTER: a message to an unknown peer is ``SendResult/unreachable``, not dropped.
  public var routerMandatory = true
  /// XPUB: a subscription counts only after ``Socket/approve(subscription:)``.
  public var xpubManual = false
  /// XPUB: every subscription and unsubscription is received, repeated ones too.
  public var xpubVerboser = false
  /// Connect only counts once it is complete: nothing is queued for an absent peer.
  public var immediate = false
  /// The first delay before connecting again, in milliseconds. libzmq adds a random part of up to
  /// the same length.
  public var reconnectInterval: Int32 = 10
  /// The delay doubles up to this, in milliseconds; 0 keeps it constant.
  public var reconnectIntervalMaximum: Int32 = 1_000
  /// How long a handshake may take, in milliseconds; 0 is for ever.
  public var handshakeInterval: Int32 = 10_000
  /// How many TCP connections may wait to be accepted.
  public var backlog: Int32 = 1_024
  /// CURVE keys; `nil` is plain text, for inproc and tests.
  public var security: CurveSecurity?
  /// What the ``ZAPHandler`` of the process is told as the domain of this socket's clients.
  public var zapDomain: String?

  /// The defaults.
  public init() {}

  func apply(to handle: SocketHandle, kind: SocketKind) throws(ZeroMQError) {
    try handle.set(ZMQ_LINGER, linger)
    try handle.set(ZMQ_SNDHWM, sendHighWaterMark)
    try handle.set(ZMQ_RCVHWM, receiveHighWaterMark)
    try handle.set(ZMQ_MAXMSGSIZE, maximumMessageSize)
    try handle.set(ZMQ_RECONNECT_IVL, reconnectInterval)
    try handle.set(ZMQ_RECONNECT_IVL_MAX, reconnectIntervalMaximum)
    try handle.set(ZMQ_HANDSHAKE_IVL, handshakeInterval)
    try handle.set(ZMQ_BACKLOG, backlog)
    if immediate { try handle.enable(ZMQ_IMMEDIATE) }
    if kind == .router, routerMandatory { try handle.enable(ZMQ_ROUTER_MANDATORY) }
    if kind == .xpub, xpubManual { try handle.enable(ZMQ_XPUB_MANUAL) }
    if kind == .xpub, xpubVerboser { try handle.enable(ZMQ_XPUB_VERBOSER) }
    if let zapDomain { try handle.set(ZMQ_ZAP_DOMAIN, Array(zapDomain.utf8)) }
    try security?.apply(to: handle)
  }
}
