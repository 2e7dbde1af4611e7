/// A numbered error. A problem never carries personal data.
///
/// All sockets and processes share one table. The number travels on the wire, so a number is never
/// reused. ``table`` has each problem's cause and next step.
///
/// 1xx: encoding; 2xx: identity and trust; 3xx: invalid values; 4xx: conflicts with the current
/// state; 5xx: the relay.
public struct Problem: Error, Hashable, Sendable {
  /// The number in the table.
  public var code: UInt16
  /// The time to wait before a retry; zero if a retry cannot succeed.
  public var retryAfter = Milliseconds.zero

  /// The relay's time, with `earlyID`; `nil`: not stated.
  public var relayTime: Instant?

  private init(_ code: UInt16) { self.code = code }

  /// Creates a problem from its number on the wire. A number of a later version is kept.
  public init(code: UInt16, retryAfter: Milliseconds = .zero, relayTime: Instant? = nil) {
    self.code = code
    self.retryAfter = retryAfter
    self.relayTime = relayTime
  }

  /// The bytes are not a valid message.
  public static let malformed = Problem(100)
  /// The message has a newer protocol version than the receiver knows.
  public static let unsupportedVersion = Problem(101)
  /// The message, or a part of it, exceeds a limit.
  public static let tooLarge = Problem(102)
  /// The receiver does not know this kind of request.
  public static let unknownRequest = Problem(103)
  /// The message has an older protocol version than the receiver still accepts.
  public static let outdatedVersion = Problem(104)
  /// Whether sender and receiver have no protocol version in common.
  public var concernsVersion: Bool { self == .unsupportedVersion || self == .outdatedVersion }
  /// The key does not belong to the device that the request names, or no such device exists.
  public static let notEnrolled = Problem(200)
  /// The sender's role does not allow the request.
  public static let notPermitted = Problem(201)
  /// Only a child may ask.
  public static let notAChild = Problem(202)
  /// The in-person answer has no valid proof of the family's passcode.
  public static let noProof = Problem(203)
  /// The event has no valid signature of a device that may decide it.
  public static let notSigned = Problem(204)
  /// The command was already applied at another position of the log, or its position contradicts
  /// its signature.
  public static let replayed = Problem(205)
  /// The content was modified, or sealed under a key that this device does not have.
  public static let cannotOpen = Problem(206)
  /// The sealed content contradicts the event's readable part.
  public static let contradiction = Problem(207)
  /// The device serves another child or another family than the app's first device.
  public static let otherFamily = Problem(208)
  /// The proof of the passcode is too old, or of the future.
  public static let proofOutdated = Problem(209)
  /// The relay showed this device another history of the audience than it shows now, or than it
  /// showed the signer of an event. Or a device shows its app other rosters than before.
  public static let forked = Problem(210)
  /// Another member knew an event of the family that the relay does not send to this device.
  public static let withheld = Problem(211)
  /// For days, this device has received no statement of another guardian's device.
  public static let noNews = Problem(212)
  /// The key share names a device that may not read the audience, or names one twice for a key.
  public static let badKeyShare = Problem(220)
  /// The device has made too many content keys for the audience.
  public static let tooManyKeys = Problem(221)
  /// A public key is invalid: its secrets would be known to everyone.
  public static let weakKey = Problem(222)
  /// This device lacks a content key that it should have. The contents open when a holder shares it.
  public static let missingKey = Problem(223)
  /// The question has no handle, or an empty one.
  public static let emptyHandle = Problem(300)
  /// A handle is too long.
  public static let handleTooLong = Problem(301)
  /// The default choice is not one of the choices.
  public static let defaultChoiceMissing = Problem(302)
  /// The choices are missing, too many, or share an id.
  public static let badChoices = Problem(303)
  /// The expiration is in the past.
  public static let expirationInThePast = Problem(304)
  /// An image is too large.
  public static let imageTooLarge = Problem(305)
  /// A text, name or title is empty or too long.
  public static let badText = Problem(306)
  /// A count exceeds its limit: people, devices, open questions or invitations.
  public static let tooMany = Problem(307)
  /// The roster is malformed: not exactly one organizer, a duplicate id, or a device without an
  /// owner.
  public static let badFamily = Problem(308)
  /// The image has an unsupported format or size.
  public static let badImage = Problem(309)
  /// The age gates are not one to three positive ages, ascending and at least two years apart.
  public static let badAgeGates = Problem(310)
  /// The birthdate is no day since 1900, or is in the future.
  public static let badBirthdate = Problem(311)
  /// An approval's end is in the past, or later than ten years; or the choice makes no handle known.
  public static let badEnd = Problem(312)
  /// The handle is not of its kind: a phone number without digits, an e-mail address without a
  /// domain, or a text with control characters.
  public static let badHandle = Problem(320)
  /// The person, question or choice does not exist.
  public static let unknown = Problem(400)
  /// An earlier decision exists.
  public static let alreadyAnswered = Problem(401)
  /// The question has expired.
  public static let expired = Problem(402)
  /// The child cancelled the question.
  public static let cancelled = Problem(403)
  /// An open question already asks about the same people.
  public static let alreadyAsked = Problem(404)
  /// The last reminder is too recent.
  public static let remindedRecently = Problem(405)
  /// The child's communication limits are off. No relay of this version sends the problem: devices
  /// decide from what they verified.
  public static let limitsOff = Problem(406)
  /// The family, person, device or question already exists with other content.
  public static let conflict = Problem(407)
  /// The family has no passcode.
  public static let noPasscode = Problem(408)
  /// The signer knew an older roster: sign again with the current one.
  public static let stale = Problem(409)
  /// The app's manifest does not declare the use of age ranges.
  public static let notDeclared = Problem(410)
  /// The app's rating is above the child's ceiling.
  public static let ratedAbove = Problem(411)
  /// The set-up of the account is unfinished: the birthdate is unknown.
  public static let ageNotAvailable = Problem(412)
  /// The roster would leave the organizer without a device, and no later roster could repair that.
  public static let lastOrganizerDevice = Problem(413)
  /// A guardian withdrew the consent to the app, and has neither approved an update nor given the
  /// consent back since.
  public static let consentWithdrawn = Problem(414)
  /// The device knows no account of its owner.
  public static let noAccount = Problem(415)
  /// The device has sent another command under this id. The command needs a new id.
  public static let idTaken = Problem(416)
  /// The command's id is ahead of the relay's clock by more than ``Limits/idLead``. The command needs
  /// a new id, made from `relayTime`.
  public static func earlyID(relayTime: Instant? = nil) -> Problem {
    Problem(code: 417, relayTime: relayTime)
  }
  /// Whether the problem is ``earlyID(relayTime:)``, with any time.
  public var isEarlyID: Bool { code == Problem.earlyID().code }
  /// The roster contains the signing key of a device that an earlier roster removed.
  public static let keyRemoved = Problem(418)
  /// The roster removes a person or a device, and changes something else too.
  public static let mixedRemoval = Problem(419)
  /// The device does not answer: its agent is stopped, or too slow.
  public static let deviceAway = Problem(420)
  /// Another process of the app uses the app's store.
  public static let appRuns = Problem(421)
  /// The process runs on no device.
  public static let noDevice = Problem(422)
  /// The app's store cannot be opened.
  public static let appStoreFailed = Problem(423)
  /// The app exceeds a limit of its device: open prompts, unhandled responses, bytes or requests.
  public static let appLimit = Problem(424)
  /// The family, or the device, has as many bytes in the relay's store as the relay allows. Answers,
  /// cancellations and removals are still possible.
  public static let quotaReached = Problem(425)
  /// The passcode has the form of an earlier version, or does not belong to the relay's secret.
  public static let passcodeOutdated = Problem(440)
  /// The family's devices guessed too often: guess again after `retryAfter`.
  public static func passcodeLocked(retryAfter: Milliseconds) -> Problem {
    Problem(code: 441, retryAfter: retryAfter)
  }
  /// The relay does not answer the device.
  public static let noRelay = Problem(442)
  /// The child's rules for the web do not make the child ask for the site: the site is open, or blocked.
  public static let siteNotAsked = Problem(450)
  /// No guardian has authorized the app to manage the child.
  public static let notAuthorized = Problem(451)
  /// An app that guardians authorized blocks the app on this device.
  public static let appBlocked = Problem(452)
  /// An app that guardians authorized denies new people on this device.
  public static let peopleDenied = Problem(453)
  /// The interval of an activity is too short or too long.
  public static let activityLength = Problem(454)
  /// The interval of an activity has ended already.
  public static let activityOver = Problem(455)
  /// The setting for sensitive pictures is off: no picture is checked.
  public static let picturesNotChecked = Problem(460)
  /// The app has too many pictures checked at the same time.
  public static let tooManyPictures = Problem(461)
  /// The check of a picture has no verdict: the worker is undecided, too slow or not running.
  public static let noVerdict = Problem(462)
  /// The device has no worker that checks pictures.
  public static let noContentWorker = Problem(463)
  /// A video file that no decoder can read.
  public static let videoUnreadable = Problem(464)
  /// No program decodes video files.
  public static let noVideoDecoder = Problem(465)
  /// The relay is overloaded: retry after `retryAfter`.
  public static let overloaded = Problem(500)
  /// The store cannot write; the relay accepted nothing.
  public static let storeFailed = Problem(501)
  /// The device or its family exceeds its rate limit: retry after `retryAfter`.
  public static func tooFast(retryAfter: Milliseconds) -> Problem {
    Problem(code: 502, retryAfter: retryAfter)
  }
  /// The store is damaged: it no longer holds the data that was written. A relay with a damaged record
  /// refuses the requests of its family, and serves all others.
  public static let storeDamaged = Problem(503)
}

extension Problem: CustomStringConvertible {
  /// The number, followed by the name if the table has one.
  public var description: String {
    guard let name = entry?.name else { return "problem \(code)" }
    return "problem \(code): \(name)"
  }
}
