/// The times that a process for pictures has.
public struct ProcessLimits: Sendable {
  /// The time from the start of the process until it has confined itself.
  public var start: Duration
  /// The time for one picture.
  public var picture: Duration
  /// The time between two starts. Pictures wait meanwhile.
  public var interval: Duration
  /// The time that a picture waits for earlier ones. Afterwards it has no reply.
  public var wait: Duration

  /// Creates limits.
  public init(start: Duration, picture: Duration, interval: Duration, wait: Duration) {
    self.start = start
    self.picture = picture
    self.interval = interval
    self.wait = wait
  }
}

extension ProcessLimits {
  /// The times of a process of `content-decoder`.
  ///
  /// - Parameter timeout: The time for the start of the process, and for one picture.
  public static func decoder(_ timeout: Duration = ContentLimits.decoderTimeout) -> ProcessLimits {
    ProcessLimits(
      start: timeout, picture: timeout, interval: ContentLimits.decoderInterval,
      wait: max(timeout, ContentLimits.timeout))
  }
}

/// A process for pictures that cannot be started, that cannot confine itself, or that did not answer.
public struct ProcessFailure: Error, CustomStringConvertible {
  /// The program and the reason in one sentence.
  public let description: String
}
