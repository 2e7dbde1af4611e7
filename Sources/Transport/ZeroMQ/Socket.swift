import CZeroMQ

/// One ZeroMQ socket. The end of the value closes the socket.
///
/// One thread at a time uses a socket. A socket may be created on one thread and moved to an actor
/// of another, if no third one uses it meanwhile. From the first
/// ``SocketThread/watch(_:onReadable:)`` on, that thread owns the socket. If the value ends on
/// another thread, the owner closes the socket.
public struct Socket: ~Copyable {
  let handle: SocketHandle

  /// Opens a socket with its options.
  /// - Throws: `tooManySockets`, `terminated`, or `invalidArgument` for an invalid option.
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

  /// The socket's messaging pattern.
  public var kind: SocketKind { handle.kind }

  /// Closes the socket. Unsent messages are kept for the time of the option `linger`.
  public consuming func close() {
    handle.release()
  }

  /// Accepts connections at an endpoint such as `tcp://127.0.0.1:*`, `ipc:///run/x` or
  /// `inproc://x`.
  ///
  /// ``lastEndpoint()`` returns the port that was chosen for `*`.
  /// - Throws: `addressInUse`, `addressUnavailable`, `accessDenied`, `invalidArgument`.
  public func bind(_ endpoint: String) throws(ZeroMQError) {
    if zmq_bind(try handle.open("bind"), endpoint) != 0 { throw .last("bind") }
  }

  /// Connects in the background and retries without limit. An absent peer is not an error.
  /// - Throws: `invalidArgument` for a malformed endpoint.
  public func connect(_ endpoint: String) throws(ZeroMQError) {
    if zmq_connect(try handle.open("connect"), endpoint) != 0 { throw .last("connect") }
  }

  /// Ends a connection of ``connect(_:)`` and drops its queued messages.
  /// - Throws: `addressUnavailable` if no such connection exists.
  public func disconnect(_ endpoint: String) throws(ZeroMQError) {
    // libzmq 4.3.4 keeps the first part of a subscriber's next message. Without the other parts,
    // which end with the connection, the next receive would end the process.
    if kind == .sub {
      var dropped = Multipart()
      _ = try receive(into: &dropped)
    }
    if zmq_disconnect(try handle.open("disconnect"), endpoint) != 0 { throw .last("disconnect") }
  }

  /// Replaces the connection to an endpoint by a new one, and drops its queued messages.
  ///
  /// libzmq queues messages for an absent peer. A client that repeats its requests after a
  /// reconnection calls this when the connection ends.
  public func renewConnection(to endpoint: String) throws(ZeroMQError) {
    // libzmq may already have removed the endpoint with the connection.
    do { try disconnect(endpoint) } catch  where error.code == .addressUnavailable {}
    try connect(endpoint)
  }

  /// Stops accepting connections at an endpoint, given as ``lastEndpoint()`` returned it.
  /// - Throws: `addressUnavailable` if the endpoint is not bound.
  public func unbind(_ endpoint: String) throws(ZeroMQError) {
    if zmq_unbind(try handle.open("unbind"), endpoint) != 0 { throw .last("unbind") }
  }

  /// The endpoint of the last bind or connect, with the chosen port.
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

  /// The operations that would not block.
  public func events() throws(ZeroMQError) -> SocketEvents {
    var value: Int32 = 0
    var size = MemoryLayout<Int32>.size
    guard zmq_getsockopt(try handle.open("events"), ZMQ_EVENTS, &value, &size) == 0 else {
      throw .last("events")
    }
    return SocketEvents(rawValue: value)
  }

  /// SUB: subscribes to the messages whose first bytes are `topic`. An empty topic matches all.
  public func subscribe(_ topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_SUBSCRIBE, topic)
  }

  /// SUB: reverts one ``subscribe(_:)`` of the same topic.
  public func unsubscribe(_ topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_UNSUBSCRIBE, topic)
  }

  /// XPUB in manual mode: subscribes the sender of the last received message to `topic`.
  ///
  /// Precondition: no receive happened since. ``SubscriptionGate`` knows when an approval is
  /// unsafe. An approval for a disconnected peer has no effect.
  public func approve(subscription topic: [UInt8]) throws(ZeroMQError) {
    try handle.set(ZMQ_SUBSCRIBE, topic)
  }

  /// Blocks until a message can be received or the timeout elapses. For small clients and tests; a
  /// service uses ``SocketThread``.
  /// - Parameter timeout: The timeout; `nil` waits without limit.
  /// - Returns: Whether a message can be received.
  public func waitUntilReadable(within timeout: Nanoseconds?) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    poller.watch(self)
    return try poller.wait(within: timeout) > 0
  }
}

/// One thread owns a socket.
@available(*, unavailable)
extension Socket: Sendable {}
