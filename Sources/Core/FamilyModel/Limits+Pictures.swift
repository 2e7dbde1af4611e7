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
}
