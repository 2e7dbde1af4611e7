/// Decides which clients may finish their handshake with the CURVE sockets of a context.
///
/// Without it CURVE lets every key in. Make it before the sockets bind, and drain it on the thread
/// that owns it: handshakes wait for its answers.
public struct ZAPHandler: ~Copyable {
  /// The REP socket, to be watched by the thread that calls ``drain(limit:_:)``.
  public let socket: Socket
  private var message: Multipart

  /// Binds `inproc://zeromq.zap.01`, of which a context has one.
  /// - Throws: `addressInUse` if the context has a handler.
  public init(in context: Context) throws(ZeroMQError) {
    var options = SocketOptions()
    options.maximumMessageSize = 64 << 10
    let socket = try Socket(.rep, in: context, options: options)
    try socket.bind(ZAPFrames.endpoint)
    self.socket = socket
    message = Multipart(maximumParts: ZAPFrames.maximumParts)
  }

  /// Answers the handshakes that wait, up to `limit`.
  ///
  /// A request that does not follow RFC 27 is refused without asking: with 400, or with 500 if it
  /// has another version. One without a request id has nobody to be answered, and is still
  /// answered, since REP has to.
  /// - Returns: whether requests may be left.
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
      // A handshake that has ended in the meantime is nobody's loss.
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
