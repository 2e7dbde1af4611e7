import AppClient
public import DeviceConnection
import FamilyModel
public import Foundation

/// The reason why the device rejected a question.
///
/// The cases are Apple's. This library never throws ``communicationLimitsNotEnabled``,
/// ``contactSyncNotSetup`` and ``unknown``.
public enum AskError: LocalizedError {
  /// Communication limits are off for the child. Never thrown: the default choice is the response.
  case communicationLimitsNotEnabled
  /// Contacts are not synchronised. Never thrown: guardians edit a child's contacts directly.
  case contactSyncNotSetup
  /// The question breaks a limit, or too many questions are open. Correct the question.
  ///
  /// The problem names the limit: 300 to 307, or 320. A pattern may leave it out, as in
  /// `catch AskError.invalidQuestion`.
  ///
  /// A question has 1 to 32 people and 1 to 16 choices with distinct ids. Its default choice is one
  /// of the choices, and its expiration date is in the future. Approvals of people may have an end,
  /// from one second to ten years after the question. Sizes in bytes (of UTF-8, for text):
  ///
  /// - 1 to 320: ``CommunicationHandle/value``, which is a handle of its kind.
  /// - 1 to 128: ``PermissionChoice/id``.
  /// - 1 to 256: ``PermissionChoice/title``.
  /// - Up to 256: each part of ``CommunicationTopic/PersonInformation/nameComponents``.
  /// - 1 to 4,096: ``SignificantAppUpdateTopic/description``.
  /// - 1 to 65,536: ``AvatarImage/bytes``.
  case invalidQuestion(DeviceProblem)
  /// The process runs on no device: the environment has no `PERMISSION_RELAY_DEVICE`.
  ///
  /// Set the variable to the credential file that child-agent wrote for this app.
  case notAvailable
  /// The device or the app's store refused.
  ///
  /// The underlying error's description has the reason and, from the device, a problem's number.
  /// Frequent reasons:
  ///
  /// - 202: the person is not a child.
  /// - 309: a picture is not of its declared type, or is too large in pixels.
  /// - 408: the family has no passcode.
  /// - 411: the app is rated above the child's ceiling.
  /// - 414: a guardian withdrew the consent to this app, and the question is about people.
  /// - 420: the device did not answer for ten seconds. A response may still follow.
  /// - 421: another process of the app holds the store. The description names its process number.
  case systemError(underlyingError: any Error)
  /// Another reason. Never thrown.
  case unknown

  /// The reason in one English sentence.
  public var errorDescription: String? {
    switch self {
    case .communicationLimitsNotEnabled: "Communication limits are not on for this child."
    case .contactSyncNotSetup: "Contacts are not synchronised."
    case .invalidQuestion(let problem): "The question cannot be asked as it is (\(problem))"
    case .notAvailable: "There is no device: PERMISSION_RELAY_DEVICE is not set."
    case .systemError(let error): "The system refused: \(error)"
    case .unknown: "Something went wrong."
    }
  }

  /// An invalid question without a known reason, for code that throws the case itself.
  public static var invalidQuestion: AskError {
    .invalidQuestion(DeviceProblem(.malformed))
  }

  /// The session of this process.
  ///
  /// - Throws: ``notAvailable`` or ``systemError(underlyingError:)``.
  static func session() throws -> AppSession {
    do {
      return try AppSession.current()
    } catch is AppSession.NoDevice {
      throw AskError.notAvailable
    } catch {
      throw AskError.systemError(underlyingError: DeviceProblem(reason: error))
    }
  }

  init(_ problem: Problem) {
    let cause = DeviceProblem(problem, advice: Self.advice(about: problem))
    let isInvalid = (300...307).contains(problem.code) || [.badHandle, .badEnd].contains(problem)
    self =
      isInvalid
      ? .invalidQuestion(cause) : .systemError(underlyingError: cause)
  }

  private static func advice(about problem: Problem) -> String? {
    switch problem {
    case .emptyHandle: "A question has a handle, and no handle is blank."
    case .handleTooLong: "A handle has at most \(Limits.handleBytes) bytes."
    case .defaultChoiceMissing: "The default choice is one of the choices."
    case .badChoices: "A question has 1 to \(Limits.choices) choices with distinct ids."
    case .expirationInThePast: "The expiration date is in the future."
    case .imageTooLarge: "A picture has at most \(Limits.avatarBytes) bytes."
    case .badText:
      "A title has 1 to \(Limits.titleBytes) bytes, an id 1 to \(Limits.identifierBytes), "
        + "a part of a name at most \(Limits.titleBytes), a description 1 to \(Limits.textBytes)."
    case .tooMany:
      "A question has at most \(Limits.subjects) people, and a child \(Limits.openQuestions) open "
        + "questions."
    case .appLimit:
      "An app has at most \(Limits.appPrompts) open prompts and \(Limits.defaultResponses) unhandled "
        + "default responses."
    case .badImage:
      "A picture is a still PNG, JPEG, GIF or WebP of its declared type, with at most "
        + "\(Limits.avatarPixels) pixels on each side."
    case .badEnd:
      "An approval of people ends from one second to ten years after the question."
    default: nil
    }
  }
}
