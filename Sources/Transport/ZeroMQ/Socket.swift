import CZeroMQ

/// One ZeroMQ socket. It is closed when the value ends.
///
/// A socket is used by one thread at a time. It may be made on one thread and handed to an actor
/// that runs on another, as long as nobody uses it in between; from its first
/// ``SocketThread/watch(_:onReadable:)`` on it belongs to that thread. If the value ends elsewhere,
/// the thread closes the socket.
public struct Socket: ~Copyable {
  let handle: SocketHandle

  /// Opens a socket with its settings.
  /// - Throws: `tooManySockets`, `terminated`, or `invalidArgument` for a bad option.
  public init(
    _ kind: SocketKind, in context: Context, options: SocketOptions = SocketOptions()
  ) throws(ZeroMQError) {
    let handle = try SocketHandle(kind, context)
    try options.apply(to: handle, kind: kind)
    self.handle = handle
  }

  deinit {
    handle.release()
  }

  /// The pattern of this socket.
  public var kind: SocketKind { handle.kind }

  /// Closes at once (unsent messages live as long as `linger` says).
  public consuming func close() {
    handle.release()
  }

  /// Accepts connections at an endpoint such as `tcp://127.0.0.1:*`, `ipc:///run/x` or
  /// `inproc://x`; ``lastEndpoint()`` tells the port that `*` became.
  /// - Throws: `addressInUse`, `addressUnavailable`, `accessDenied`, `invalidArgument`.
  public func bind(_ endpoint: String) throws(ZeroMQError) {
    if zmq_bind(try handle.open("bind"), endpoint) != 0 { throw .last("bind") }
  }

  /// Connects in the background, again and again; an absent peer is not an error.
  /// - Throws: `invalidArgument` for a malformed endpoint.
  public func connect(_ endpoint: String) throws(ZeroMQError) {
    if zmq_connect(try handle.open("connect"), endpoint) != 0 { throw .last("connect") }
  }

  /// Ends a connection that ``connect(_:)`` made, and drops what was queued for it.
  /// - Throws: `addressUnavailable` if there is none.
  public func disconnect(_ endpoint: String) throws(ZeroMQError) {
    if zmq_disconnect(try handle.open("disconnect"), endpoint) != 0 { throw .last("disconnect") }
  }

  /// Stops accepting connections at an endpoint, given as ``lastEndpoint()`` told it.
  /// - Throws: `addressUnavailable` if it is not bound.
  public func unbind(_ endpoint: String) throws(ZeroMQError) {
    if zmq_unbind(try handle.open("unbind"), endpoint) != 0 { throw .last("unbind") }
  }

  /// The endpoint of the last bind or connect, with the port that was chosen.
  public func lastEndpoint() throws(ZeroMQError) -> String {
    let raw = try handle.open("last endpoint")
    var size = 1_024
    var result: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      result = zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, buffer.baseAddress, &size)
      count = result == 0 ? max(size - 1, 0) : 0  // without the closing NUL
    }
    if result != 0 { throw .last("last endpoint") }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What can be done at once.
  public func events() throws(ZeroMQError) -> SocketEvents {
    var value: Int32 = 0
    var size = MemoryLayout<Int32>.size
    guard zmq_getsockopt(try handle.open("events"), ZMQ_EVENTS, &value, &size) == 0 else {
      throw .last("events")
    }
    return SocketEvents(rawValue: value)
  }

  /// SUB: asks for the messages whose first bytes are `topic`; an empty topic asks for all.
  public func subscribe(_ topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_SUBSCRIBE, topic)
  }

  /// SUB: takes one ``subscribe(_:)`` of the same topic back.
  public func unsubscribe(_ topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_UNSUBSCRIBE, topic)
  }

  /// XPUB in manual mode: lets the peer whose message was received last have `topic`.
  ///
  /// Call it right after that receive; use ``SubscriptionGate``, which knows when it is unsafe. An
  /// approval for a peer that has gone is silently without effect.
  public func approve(subscription topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_SUBSCRIBE, topic)
  }

  /// Blocks until a message can be received or the time is over. For small clients and tests;
  /// a service uses ``SocketThread``.
  /// - Parameter milliseconds: how long to wait; negative is for ever.
  /// - Returns: whether a message can be received.
  public func waitUntilReadable(milliseconds: Int) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    poller.watch(self)
    return try poller.wait(milliseconds: milliseconds) > 0
  }
}

/// A socket belongs to one thread.
@available(*, unavailable)
extension Socket: Sendable {}
