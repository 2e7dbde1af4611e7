/// Decides which clients may complete their handshake with the CURVE sockets of a context.
///
/// Without a handler, CURVE admits every key. Precondition: the handler is created before the
/// sockets bind. The owning thread must drain it, because handshakes wait for its replies.
public struct ZAPHandler: ~Copyable {
  /// The REP socket. The thread that calls ``drain(limit:_:)`` watches this socket.
  public let socket: Socket
  private var message: Multipart

  /// Binds `inproc://zeromq.zap.01`, which exists once per context.
  /// - Throws: `addressInUse` if the context already has a handler.
  public init(in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.maximumMessageSize = 64 << 10
    let socket = try Socket(.rep, in: context, options: options)
    try socket.bind(ZAPFrames.endpoint)
    self.socket = socket
    message = Multipart(maximumParts: ZAPFrames.maximumParts)
  }

  /// Replies to the waiting handshakes, up to `limit`.
  ///
  /// A request that does not follow RFC 27 is refused without `decide`: with 400, or with 500 if it
  /// has another version. A request without a request id gets a reply too, because REP must reply
  /// before the next receive.
  /// - Returns: Whether requests may remain.
  /// - Throws: `closed`, `terminated`.
  public mutating func drain(
    limit: Int = 1_000, _ decide: (ZAPRequest) -> ZAPDecision
  ) throws(ZeroMQError) -> Bool {
    for _ in 0..<limit {
      let reply: [[UInt8]]
      switch try socket.receive(into: &message) {
      case .nothing: return false
      case .tooManyParts:
        reply = ZAPFrames.reply(to: message.bytes(1), "400", "too many frames", userID: "")
      case .message:
        reply = answer(message.allBytes, decide)
      }
      // The handshake may have ended meanwhile; the reply is not needed then.
      _ = try socket.send(reply)
    }
    return true
  }

  private func answer(
    _ frames: [[UInt8]], _ decide: (ZAPRequest) -> ZAPDecision
  ) -> [[UInt8]] {
    let id = frames.count > 1 ? frames[1] : []
    if let request = ZAPFrames.parse(frames) {
      return ZAPFrames.reply(to: id, request, decide(request))
    }
    return frames[0] == ZAPFrames.version
      ? ZAPFrames.reply(to: id, "400", "malformed request", userID: "")
      : ZAPFrames.reply(to: id, "500", "version is not 1.0", userID: "")
  }
}
