import AppClient
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
  case invalidQuestion
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
  /// - Another process of the app holds the store: end it, and start this one again.
  case systemError(underlyingError: any Error)
  /// Another reason. Never thrown.
  case unknown

  /// The reason in one English sentence.
  public var errorDescription: String? {
    switch self {
    case .communicationLimitsNotEnabled: "Communication limits are not on for this child."
    case .contactSyncNotSetup: "Contacts are not synchronised."
    case .invalidQuestion: "The question cannot be asked as it is."
    case .notAvailable: "There is no device: PERMISSION_RELAY_DEVICE is not set."
    case .systemError(let error): "The system refused: \(error)"
    case .unknown: "Something went wrong."
    }
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
      throw AskError.systemError(underlyingError: error)
    }
  }

  init(_ problem: Problem) {
    let isInvalid =
      (300...307).contains(problem.code) || [.badHandle, .badEnd].contains(problem)
    self = isInvalid ? .invalidQuestion : .systemError(underlyingError: problem)
  }
}
