/// A refusal with a number. It never carries a person's data.
///
/// One table for every socket and every process: the number is what goes over the wire, so numbers are
/// never given anew. 1xx: the bytes; 2xx: who asks; 3xx: what is asked; 4xx: the state that it meets;
/// 5xx: the relay itself.
public struct Problem: Error, Hashable, Sendable {
  /// The number of the table.
  public var code: UInt16
  /// Milliseconds to wait before a retry; zero where a retry does not help.
  public var retryAfter: UInt32 = 0

  private init(_ code: UInt16) { self.code = code }

  /// Reads a number from the wire; a number of a later version keeps its value.
  public init(code: UInt16, retryAfter: UInt32 = 0) {
    self.code = code
    self.retryAfter = retryAfter
  }

  /// The bytes are not a message.
  public static let malformed = Problem(100)
  /// The message is of a protocol version that the receiver does not speak.
  public static let unsupportedVersion = Problem(101)
  /// The message, or a part of it, is larger than allowed.
  public static let tooLarge = Problem(102)
  /// The kind of request is not known to the receiver.
  public static let unknownRequest = Problem(103)
  /// The key does not belong to the device that the request names, or nobody knows that device.
  public static let notEnrolled = Problem(200)
  /// The device may not do this: it is not the right person's.
  public static let notPermitted = Problem(201)
  /// Only a child asks (Q9).
  public static let notAChild = Problem(202)
  /// An answer in person without the family's passcode (A4).
  public static let noProof = Problem(203)
  /// Not signed, or not by a device of the family that may decide it (X3).
  public static let notSigned = Problem(204)
  /// Taken already under another place in the log, or not of this place: a repetition of something old (X3).
  public static let replayed = Problem(205)
  /// Sealed under a key that this device does not have, or changed since it was sealed (X3).
  public static let cannotOpen = Problem(206)
  /// What is sealed is not what its readable part says it is (X3).
  public static let contradiction = Problem(207)
  /// The device speaks for another child, or another family, than the app's first device did (X3).
  public static let otherFamily = Problem(208)
  /// No handle, or an empty one (Q10).
  public static let emptyHandle = Problem(300)
  /// A handle is too long (Q10).
  public static let handleTooLong = Problem(301)
  /// The default choice is not one of the choices (Q10).
  public static let defaultChoiceMissing = Problem(302)
  /// Two choices have one id, or there are none, or too many (Q10).
  public static let badChoices = Problem(303)
  /// The expiration is in the past (Q10).
  public static let expirationInThePast = Problem(304)
  /// A picture is too large (Q10).
  public static let imageTooLarge = Problem(305)
  /// A text, name or title is empty or too long.
  public static let badText = Problem(306)
  /// Too many people, devices or open questions.
  public static let tooMany = Problem(307)
  /// The family is not well formed: no organizer, an id twice, a device of nobody.
  public static let badFamily = Problem(308)
  /// Not a picture of a kind and size that is taken (Q10).
  public static let badImage = Problem(309)
  /// Age gates that are not one to three positive ages, ascending and two years apart (D1).
  public static let badAgeGates = Problem(310)
  /// No such person, question or choice.
  public static let unknown = Problem(400)
  /// Somebody was first (R3).
  public static let alreadyAnswered = Problem(401)
  /// The question's time is over (R8).
  public static let expired = Problem(402)
  /// The child took the question back (R8).
  public static let cancelled = Problem(403)
  /// A question about the same people is open (A6).
  public static let alreadyAsked = Problem(404)
  /// The guardians were reminded a short while ago (A6).
  public static let remindedRecently = Problem(405)
  /// Communication limits are off for the child (Q8).
  public static let limitsOff = Problem(406)
  /// The family, person, device or question is there already with other content.
  public static let conflict = Problem(407)
  /// The family has no passcode (A4).
  public static let noPasscode = Problem(408)
  /// The family has changed since the signer last saw it: look again.
  public static let stale = Problem(409)
  /// The app's manifest does not declare that it uses age ranges (D14).
  public static let notDeclared = Problem(410)
  /// The app is rated above the child's ceiling (D13).
  public static let ratedAbove = Problem(411)
  /// No birthdate is known, or nobody is signed in (D11).
  public static let ageNotAvailable = Problem(412)
  /// The relay has more to do than it can: wait `retryAfter`.
  public static let overloaded = Problem(500)
  /// The store cannot take more; nothing was accepted.
  public static let storeFailed = Problem(501)
  /// The device, or its family, asks for more than a family may: wait so many milliseconds.
  public static func tooFast(retryAfter: UInt32) -> Problem {
    Problem(code: 502, retryAfter: retryAfter)
  }
  /// What the store holds is not what was written; nobody is served from it.
  public static let storeDamaged = Problem(503)
}

extension Problem: CustomStringConvertible {
  /// The number, with its name where the table has one.
  public var description: String {
    guard let name = Problem.names[code] else { return "problem \(code)" }
    return "problem \(code): \(name)"
  }

  private static let names: [UInt16: String] = [
    100: "malformed message", 101: "unsupported protocol version", 102: "too large",
    103: "unknown request", 200: "not enrolled", 201: "not permitted", 202: "not a child",
    203: "no proof of the passcode", 204: "not signed by who may decide it", 205: "replayed",
    206: "cannot be opened", 207: "contradicts what is sealed in it",
    208: "another family than before",
    300: "empty handle", 301: "handle too long", 302: "default choice is not a choice",
    303: "bad choices", 304: "expiration in the past", 305: "image too large", 306: "bad text",
    307: "too many", 308: "family not well formed",
    309: "not a picture of a kind and size that is taken",
    310: "bad age gates",
    400: "unknown person, question or choice",
    401: "already answered", 402: "expired", 403: "cancelled", 404: "already asked",
    405: "reminded recently", 406: "communication limits are off",
    407: "exists with other content", 408: "the family has no passcode",
    409: "the family has changed meanwhile",
    410: "the app does not declare that it uses age ranges",
    411: "the app is rated above the child's ceiling", 412: "no age range is available",
    500: "overloaded",
    501: "store failed", 502: "more requests than one family may send",
    503: "the store is damaged",
  ]
}
