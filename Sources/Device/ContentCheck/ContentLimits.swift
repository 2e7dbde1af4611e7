import FamilyModel

/// Every bound of the content check, and what happens there. A picture has at most
/// `Limits.avatarBytes`.
public enum ContentLimits {
  /// Bytes of one frame. A peer that sends more is disconnected by libzmq, without a reply.
  public static let frameBytes = 128 * 1024
  /// Bytes of one frame of a reply, and of CURVE's handshake; a worker that sends more is
  /// disconnected.
  public static let replyBytes = 1024
  /// Bytes of UTF-8 in a media type; more is refused with `tooLarge`.
  public static let mediaTypeBytes = 64
  /// Messages that wait for one peer; further replies are dropped, which the peer's timeout
  /// notices.
  public static let sendHighWaterMark: Int32 = 64
  /// Messages of one peer that wait for the worker; then the peer has to wait.
  public static let receiveHighWaterMark: Int32 = 64
  /// Pictures that a worker classifies at the same time; further ones are refused with
  /// `overloaded`.
  public static let workerPictures = 64
  /// Pictures of one client that wait for a verdict; further ones are `unknown` at once.
  public static let clientPictures = 64
  /// How long a client waits for a verdict before it is `unknown`.
  public static let timeout = Duration.seconds(3)
  /// How long a connection may be down before the client looks into `worker.json` again.
  static let reopenAfter: UInt64 = 500_000_000
  /// Nanoseconds until a request that libzmq did not take is offered again.
  static let retryAfter: UInt64 = 20_000_000
  /// Requests or replies that are handled before others have their turn.
  static let batch = 64
  /// Bytes of a list of hashes, about 1.9 million of them; a larger list is refused.
  public static let listBytes = 128 << 20
  /// Bytes of the path of a unix socket, without the closing NUL (unix(7)); a longer one is
  /// refused.
  static let pathBytes = 107
}
