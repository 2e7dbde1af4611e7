import AppClient
import FamilyModel
public import Foundation

/// Why a question could not be asked.
public enum AskError: LocalizedError {
  /// Communication limits are not on for the child.
  case communicationLimitsNotEnabled
  /// Contacts are not synchronised.
  case contactSyncNotSetup
  /// The question has no handle, a bad choice, a past expiration, or a part that is too large.
  case invalidQuestion
  /// The app does not run on a device of a person.
  case notAvailable
  /// The system refused: of an adult's account, say.
  case systemError(underlyingError: any Error)
  /// Something else.
  case unknown

  /// What happened, in a sentence.
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

  /// The session that asks, or why there is none.
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
    self =
      (300...307).contains(problem.code) ? .invalidQuestion : .systemError(underlyingError: problem)
  }
}
