import FamilyModel
import ZeroMQ

/// The limits of the content check, each with its behaviour at the limit.
///
/// The size of a picture is limited by `Limits.avatarBytes`.
public enum ContentLimits {
  /// Bytes of one frame of a request. libzmq disconnects a peer that sends more, without a reply.
  public static let frameBytes = 128 * 1024
  /// Bytes of one frame of a reply or of CURVE's handshake. The client disconnects a worker that
  /// sends more.
  public static let replyBytes = 1024
  /// Bytes of UTF-8 in a media type. The worker rejects more with `tooLarge`.
  public static let mediaTypeBytes = 64
  /// Unsent messages per peer. The worker drops further replies, and the peer's requests time out.
  public static let sendHighWaterMark: Int32 = 64
  /// Unread messages per peer. Further sends of the peer block.
  public static let receiveHighWaterMark: Int32 = 64
  /// Pictures that a worker classifies at the same time. The worker rejects further ones with
  /// `overloaded`.
  public static let workerPictures = 64
  /// Open requests of one client. Further verdicts are `unknown` at once.
  public static let clientPictures = 64
  /// The default timeout of a verdict. Afterwards the verdict is `unknown`.
  public static let timeout = Duration.seconds(3)
  /// The time without a connection after which the client reads `worker.json` again.
  static let reopenAfter = Nanoseconds.milliseconds(500)
  /// Doublings of that time for connections to the same worker that do not come up: 8 s at most.
  static let reopenDoublings = 4
  /// The time until the client retries a send that libzmq refused.
  static let retryAfter = Nanoseconds.milliseconds(20)
  /// The time for one picture in a decoder or in a classifier's program. Afterwards the process is
  /// killed, and the verdict is `unknown`.
  public static let decoderTimeout = Duration.seconds(2)
  /// The time between two starts of a decoder. Pictures wait meanwhile.
  public static let decoderInterval = Duration.milliseconds(100)
  /// The time for the start of a classifier's program, which reads its model. Afterwards the program is
  /// killed, and the verdict is `unknown`.
  public static let classifierStart = Duration.seconds(30)
  /// The time between two starts of a classifier's program. Pictures wait meanwhile.
  public static let classifierInterval = Duration.seconds(1)
  /// Messages handled per wake-up, so that other sockets of the thread are served.
  static let batch = 64
  /// Bytes of a hash list, about 1.9 million hashes. A larger list is rejected.
  public static let listBytes = 128 << 20
  /// Bytes of a unix socket's path without the closing NUL (unix(7)). A longer path is rejected.
  static let pathBytes = 107
}
