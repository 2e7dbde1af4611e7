/// Every size that the model bounds. What happens at a limit: the value is refused with a `Problem`.
public enum Limits {
  /// Bytes of UTF-8 in one handle.
  public static let handleBytes = 320
  /// People in one question.
  public static let subjects = 32
  /// Choices in one question.
  public static let choices = 16
  /// Bytes of UTF-8 in an identifier of a choice, or in an app's bundle identifier.
  public static let identifierBytes = 128
  /// Bytes of the digest of the people asked about.
  public static let subjectBytes = 64
  /// Bytes of UTF-8 in the title of a choice, or in a part of a name.
  public static let titleBytes = 256
  /// Bytes of UTF-8 in a text message or the description of an update.
  public static let textBytes = 4096
  /// Bytes of one encoded picture.
  public static let avatarBytes = 64 * 1024
  /// Pixels on each side of a picture: a small file must not become a large bitmap.
  public static let avatarPixels = 1024
  /// Bytes of one frame on any socket. A peer that sends more is disconnected by libzmq.
  public static let frameBytes = 1024 * 1024
  /// Bytes of the content of one message; with its envelope it fits a frame.
  public static let contentBytes = frameBytes - 4096
  /// People in a family.
  public static let persons = 64
  /// Devices in a family.
  public static let devices = 256
  /// Other devices for which one device says that they are there.
  public static let presentDevices = 1024
  /// Content keys in one message that shares them, each for one device.
  public static let keyWraps = 256
  /// Bytes of one content key sealed for one device.
  public static let keyWrapBytes = 128
  /// Events that a device keeps in memory until it knows who signed them, or has their key. Those beyond are
  /// only stored, and looked at again when the device starts the next time.
  public static let aside = 4096
  /// Pieces of evidence in one message to an app; a device sends as many messages as it takes.
  public static let evidence = 128
  /// Questions whose default permits something and whose answer an app waits for; of more the oldest is
  /// forgotten, and its default is not believed.
  public static let askedQuestions = 64
  /// Invitations of a family that are open at the same time.
  public static let invitations = 16
  /// Milliseconds that an invitation may be open.
  public static let invitationTime: Int64 = 24 * 60 * 60 * 1000
  /// Questions of one child that are open at the same time.
  public static let openQuestions = 256
  /// Events in one page of history.
  public static let pageEvents = 256
  /// Bytes of payload in one page of history; a page holds at least one event.
  public static let pageBytes = 512 * 1024
  /// Commands that one device keeps until the relay has acknowledged them.
  public static let outbox = 1024
  /// scrypt's cost for the passcode, as a power of two: from what a test can pay to what a phone can.
  public static let passcodeLogCost: ClosedRange<UInt8> = 4...20
  /// Milliseconds between two reminders of one question (A6).
  public static let reminderInterval: Int64 = 15 * 60 * 1000
  /// Sets of age gates of one app whose answers are remembered at a time.
  public static let ageAnswers = 32
  /// Apps with an age sharing setting of their own, of one person.
  public static let ageApps = 256
}
