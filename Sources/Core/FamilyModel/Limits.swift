/// The bounds of the model. Each comment states the unit, and the behaviour at the limit.
///
/// A value above a limit is refused with the named `Problem` and changes nothing, unless the
/// comment states otherwise.
public enum Limits {
  /// Bytes of UTF-8 in one handle, as given and in canonical form. Above: `handleTooLong`.
  public static let handleBytes = 320
  /// Digits of a phone number; E.164 has up to 15. Outside: `badHandle`.
  public static let phoneDigits = 2...20
  /// Last digits in which two phone numbers must agree to resemble each other. Below: they do not.
  public static let comparedDigits = 7
  /// People in one question. Above: `tooMany`, on the wire `tooLarge`.
  public static let subjects = 32
  /// Choices in one question. Above: `badChoices`, on the wire `tooLarge`.
  public static let choices = 16
  /// Bytes of UTF-8 in a choice's id or an app's bundle identifier. Above: `badText`, on the wire
  /// `tooLarge`.
  public static let identifierBytes = 128
  /// Bytes of the digest of a question's subjects. Above: `tooLarge`.
  public static let subjectBytes = 64
  /// Bytes of UTF-8 in a choice's title, a display name, or a part of a name. Above: `badText`, on
  /// the wire `tooLarge`.
  public static let titleBytes = 256
  /// Bytes of UTF-8 in the name of an app's window. Above: the app's library shortens the name; on
  /// the wire `tooLarge`.
  public static let windowBytes = 128
  /// Bytes of UTF-8 in a text message or an update's description. Above: `badText`, on the wire
  /// `tooLarge`.
  public static let textBytes = 4096
  /// Bytes of one encoded image. Above: `imageTooLarge`.
  public static let avatarBytes = 64 * 1024
  /// Pixels on each side of an image, so that a small file cannot expand to a large bitmap. Above:
  /// `badImage`.
  public static let avatarPixels = 1024
  /// Bytes of one frame on any socket. Above: libzmq disconnects the peer, and every decoder throws
  /// `tooLarge`.
  public static let frameBytes = 1024 * 1024
  /// Bytes of a sealed message, contact or withdrawal. Evidence for apps contains them. Above: `tooLarge`.
  public static let shortContentBytes = 8 * 1024
  /// Bytes of a sealed account, of sealed age settings, or of a sealed list of apps. Above: `tooLarge`.
  public static let accountContentBytes = 64 * 1024
  /// Bytes of one sealed content. Every message that carries the content fits in a frame: the command
  /// with the longest header and signature, a page with its event, and an app entry with its
  /// evidence. Above: `tooLarge`.
  public static let contentBytes = frameBytes - 64 * 1024
  /// Bytes of an opaque body in a command. Above: `tooLarge`.
  public static let opaqueBytes = accountContentBytes
  /// Bytes of a relay's proof of enrolment. Above: `tooLarge`.
  public static let passBytes = 64
  /// Persons in a family. Above: `tooMany`.
  public static let persons = 64
  /// Devices in a family. Above: `tooMany`.
  public static let devices = 256
  /// Removed devices whose keys a family remembers. At the limit: `tooMany` for a roster that adds a
  /// device.
  public static let formerDevices = 1024
  /// The largest number of a person or device, so that the next number never overflows. Above:
  /// `badFamily`.
  public static let largestNumber: UInt32 = 1 << 31
  /// The years of a birthdate or of an answer. Outside: `malformed`.
  public static let years: ClosedRange<Int32> = 1900...2200
  /// The ages in an answer. Outside: `malformed`.
  public static let ages: ClosedRange<Int32> = 0...150
  /// The wall-clock times that a message carries, in milliseconds since 1970: up to the year 6429.
  /// Outside: `malformed`.
  public static let times: ClosedRange<Int64> = 0...(1 << 47 - 1)
  /// The time by which a command's id may be ahead of the relay's clock. Above: the relay refuses the
  /// command as `earlyID`, and devices and apps reject its event.
  public static let idLead = Milliseconds.minutes(10)
  /// Other devices for which one `present` request speaks. Above: `tooLarge`.
  public static let presentDevices = 1024
  /// Key wraps in one command. Above: `tooMany`, on the wire `tooLarge`; a device sends further
  /// wraps with later commands.
  public static let keyWraps = 256
  /// Bytes of one key wrap. Above: `malformed`.
  public static let keyWrapBytes = 128
  /// Content keys that one device makes for one audience between two departures of its readers,
  /// and one more for each ``contentKeyAge`` since then. Above: `tooManyKeys`; a writer that only
  /// replaces an old key uses that key further.
  public static let keysPerMaker = 64
  /// The age above which a writer replaces a content key, by the relay's time. At the limit, the key
  /// still seals.
  public static let contentKeyAge = Milliseconds.days(7)
  /// The largest number of ``contentKeyAge`` that raise the bound of ``keysPerMaker``: 20 years.
  /// Above: no more are counted.
  public static let contentKeyAges: Int64 = 1_040
  /// Devices that a device records as readers of one key if it does not know some of them, after the
  /// relay showed two histories. Above: it records those readers only that it knows.
  public static let keyReaders = 2 * devices
  /// Content keys in one complaint. Above: `tooMany`, on the wire `tooLarge`; a device complains
  /// about further keys later. Also the keys that nobody has shared and that a device complains
  /// about in one audience; above, it waits without a complaint. A complaint also costs its sender `RateLimits.complaintCost`.
  public static let complaintKeys = 64
  /// Deferred events that a device keeps in memory. Above: further events stay in the device's
  /// store only, and the device verifies them after its next start.
  public static let deferredEvents = 4096
  /// Deferred events of one signer that a device keeps in memory. Above: as `deferredEvents`.
  public static let deferredEventsOfSigner = 1024
  /// Bytes of the sealed contents in one signer's deferred events. Above: as `deferredEvents`.
  public static let deferredBytesOfSigner = 16 * 1024 * 1024
  /// Rejected events that a device keeps for a later version, after an event that is newer than the
  /// device. Above: only their positions are kept.
  public static let rejectedForNow = 4096
  /// Handles that one app can name on a device. Above: further handles stay unknown in the app.
  public static let namedHandles = 65_536
  /// Handles that one message of an app names. Above: the device refuses the message with
  /// `tooLarge`, so the app's library sends further messages.
  public static let namesInMessage = 128
  /// Statements about one value whose signers did not know each other. Above: the one with the
  /// earliest id is forgotten, although a relay that shows the statements in another order could
  /// then cause another result.
  public static let concurrentStatements = 6
  /// The connected time for which a device waits for an event that another member knew. Above: the
  /// device reports `withheld`, and fetches the family's audience again.
  public static let withheldTime = Milliseconds.seconds(60)
  /// The time without a statement of a guardian's device in the family's audience, after which a
  /// guardian's device signs a beat.
  public static let beatInterval = Milliseconds.days(1)
  /// The time without a statement of another guardian's device. Above, and after
  /// ``silenceConnected``: the device reports `noNews`.
  public static let silence = Milliseconds.days(3)
  /// The connected time for which a device that was off waits for news.
  public static let silenceConnected = Milliseconds.minutes(60)
  /// Positions of one audience's chain that a device keeps. Above: the device forgets the older
  /// half, and does not compare positions that it has forgotten.
  public static let chainPositions = 65_536
  /// Recent lines and questions of a conversation, and recent commands, that a device keeps as values.
  /// At the limit: the device packs all of them.
  public static let recentHistory = 1_024
  /// Bytes of a block of packed values. Above: another block begins. A longer value has its own block.
  public static let historyBlock = 16_000
  /// Bytes of packed values that one collection keeps in memory. At the limit: they move to the
  /// device's ``HistoryStorage``.
  public static let historyInMemory = 64 * 1_024
  /// Own statements of which a device keeps a copy for a relay that loses them. Above: the device
  /// forgets a quarter, of those that take a permission last, and the oldest first.
  public static let ownStatements = 4096
  /// Lost statements of one audience that a device gives back to the relay at one time. Above: those
  /// that take a permission come first, and then the newest; the others are not given back.
  public static let statementsGivenBack = 512
  /// Rosters, and statements of others that take a permission, of which a device keeps a copy for a
  /// relay that loses them. Above: the device forgets the oldest statement.
  public static let keptEvents = 1024
  /// Audience heads in one signature: those of a guardian in the largest family. Above: `tooLarge`.
  public static let audienceHeads = 2 * persons + 1
  /// Pieces of evidence in one message to an app, or in one app entry. Above: `tooLarge`.
  public static let evidence = 128
  /// Pieces of evidence in one message before a reset. Above: the device sends further messages. The
  /// longest pieces have 28 KB, so that the messages fit in a frame.
  public static let evidenceInMessage = 32
  /// Pieces of evidence in one app entry about handles: those of one handle, or of six handles without
  /// concurrent statements. Above: the device makes further entries.
  public static let evidenceInEntry = 6 * concurrentStatements
  /// Notifications that a device keeps. Above: the device drops the oldest read one, or else the
  /// oldest.
  public static let notifications = 128
  /// Questions with a permissive default whose response an app awaits. Above: the app forgets the
  /// oldest and rejects its default response.
  public static let askedQuestions = 64
  /// Open invitations of one family. At the limit: `tooMany`; a device forgets the oldest.
  public static let invitations = 16
  /// Lifetime of an invitation. Above: `tooLarge`.
  public static let invitationTime = Milliseconds.hours(24)
  /// Open questions of one child. At the limit: `tooMany`.
  public static let openQuestions = 256
  /// Events in one page of history. Above: the page ends and its `more` is set.
  public static let pageEvents = 256
  /// Bytes of payload in one page of history. Above: the page ends, after at least one event, and
  /// its `more` is set.
  public static let pageBytes = 512 * 1024
  /// Commands that one device keeps until the relay acknowledges them. At the limit: `tooMany`.
  public static let outbox = 1024
  /// Key shares that a device enqueues above `outbox`. At the limit: the device makes no key, and
  /// the commands that need one wait.
  public static let outboxReserve = 64
  /// Events that a device replays at a start before it makes a snapshot. Below: the device replays
  /// them at each start.
  public static let snapshotInterval = 256
  /// Events that a running device applies before it makes a snapshot, and at least an eighth of the
  /// family's log. Below, and while the snapshot is made: a start after a kill replays them.
  public static let runningSnapshotInterval = 1_024
  /// How often a running device doubles that number because its records allow no snapshot.
  public static let snapshotDoublings = 10
  /// Events that a device stores while a snapshot is made. Above: the device drops the snapshot.
  public static let eventsDuringSnapshot = 4_096
  /// The newest events that a snapshot leaves out. An event that arrives later than this many others
  /// drops the snapshot.
  public static let snapshotMargin = 64
  /// Bytes of a device's snapshot. Above: the device makes none, and replays all events.
  public static let snapshotBytes = 64 * 1024 * 1024
  /// Characters of a typed passcode. Outside: `badText`.
  public static let passcodeLength = 6...64
  /// Guesses of a family's passcode without a delay, on all devices together. Above:
  /// `passcodeLocked`, with the delays of ``passcodeDelays``. An accepted proof resets the count.
  public static let passcodeGuesses = 5
  /// The delays before each further guess; the last one repeats.
  public static let passcodeDelays: [Milliseconds] = [
    .minutes(1), .minutes(5), .minutes(15), .hours(1),
  ]
  /// The newest rosters of the relay's history that a device remembers. Above: the device forgets the
  /// oldest, and learns them again if it reads the history again.
  public static let shownRosters = 256
  /// Former passcodes of a family that a device remembers. Above: the device forgets the oldest, and
  /// rejects an in-person answer of its time that it reads later.
  public static let passcodes = 1_024
  /// The largest difference between the time of a passcode's proof and the relay's time. Above:
  /// `proofOutdated`.
  public static let passcodeProofTime = Milliseconds.minutes(10)
  /// scrypt's cost for the passcode, as a power of two: from affordable in a test to affordable on
  /// a phone. Outside: `malformed`.
  public static let passcodeLogCost: ClosedRange<UInt8> = 4...20
  /// Time between two reminders of one question. Below: `remindedRecently`.
  public static let reminderInterval = Milliseconds.minutes(15)
  /// The shortest time of an approval with an end, from the question on. Below: `badEnd`.
  public static let shortestApproval: Milliseconds = .seconds(1)
  /// The longest time of an approval with an end, from the question on. Above: `badEnd`.
  public static let longestApproval: Milliseconds = .days(3_660)
  /// Sets of age gates for which one app's answers are remembered. At the limit, if all answers are
  /// current: `tooMany`.
  public static let ageAnswers = 32
  /// Apps with their own age-sharing setting, per person. Above: `tooMany`, on the wire `tooLarge`.
  public static let ageApps = 256
  /// Bytes of a site's name, as in the domain name system. Above: no site.
  public static let siteBytes = 253
  /// Sites with their own rule, per child. Above: `tooMany`, on the wire `tooLarge`.
  public static let webSites = 256
  /// Sites in one message between an app and its device. Above: `tooLarge`, so the app's library
  /// sends further messages.
  public static let sitesInMessage = 128
  /// Sites that an app's cache holds. Above: the app forgets the site that it named first.
  public static let cachedSites = 4096
  /// Days of the use of the web that a device keeps, of each app and of each reporting device. Above: the
  /// device forgets the first day.
  public static let webUseDays = 31
  /// Sites in the use of one day. Above: the time of further sites counts in the day's time only; on the
  /// wire `tooLarge`.
  public static let webUseSites = 100
  /// Days in one report of the use of the web. Above: the device sends further reports; on the wire
  /// `tooLarge`.
  public static let webUseDaysInReport = 2
  /// Messages about the use of the web that an app keeps for its device. Above: further time is lost,
  /// and one deletion of everything replaces all messages.
  public static let webUseMessages = 32
  /// Apps in the list of one device. Above: the device lists the first ones by identifier; on the
  /// wire `tooLarge`.
  public static let listedApps = 128
  /// Bytes of a table of regions. Above: the table is refused.
  public static let regionTableBytes = 1024 * 1024
  /// Lines of a table of regions. Above: the table is refused.
  public static let regions = 4096
  /// Bytes of one value in a table of regions. Above: the table is refused.
  public static let regionValueBytes = 2048
  /// Periods of one duty in a table of regions. Above: the table is refused.
  public static let regionPeriods = 16
  /// Ages of majority in completed years. Outside: the table of regions is refused.
  public static let legalAges: ClosedRange<Int32> = 14...25
}
