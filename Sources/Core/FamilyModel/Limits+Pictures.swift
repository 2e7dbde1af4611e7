/// The limits of the check of pictures for apps. The size of a picture is limited by ``avatarBytes`` and
/// ``avatarPixels``.
extension Limits {
  /// Pictures of one app that a device checks at the same time. Above: problem `tooManyPictures`.
  public static let appPictures = 16
  /// Bytes of those pictures. Above: problem `tooManyPictures`.
  public static let appPictureBytes = 512 * 1024
  /// Pictures of all apps that a device checks at the same time. Above: problem `tooManyPictures`.
  public static let devicePictures = 32
  /// Pictures that an app's library sends at the same time. Further ones wait in the app. A device that
  /// still checks those of a former connection has room for as many again.
  public static let picturesInFlight = 4
  /// Pictures that wait in an app, with those in flight. Above: problem `tooManyPictures`.
  public static let waitingPictures = 256
  /// Frames of a live stream that a device checks at the same time. The app keeps the newest further frame and
  /// skips the others.
  public static let streamFrames = 2
  /// The time for the verdict on a frame. Afterwards the stream is interrupted.
  public static let streamLag: Duration = .seconds(1)
  /// The time of clean frames after which a sensitive frame interrupts a continued stream again.
  public static let streamCalm: Duration = .seconds(10)
  /// The time of a video file in which one frame is checked. A frame that is shown longer is checked, too.
  public static let videoInterval: Duration = .milliseconds(250)
  /// The time for the next frame of a video file. Afterwards the decoder is killed, and the analysis fails.
  public static let videoFrameTimeout: Duration = .seconds(10)
  /// Video files that a process decodes at the same time. Further ones wait.
  public static let videoDecoders = 2
  /// Pixels of a frame of a video file, those of 4K. A video with more is not decoded.
  public static let videoPixels = 4_096 * 2_304
}
