import AppClient
import DeviceConnection
import FamilyModel

/// The reason why an authorization failed.
public enum FamilyControlsError: Int, Error, Hashable, Sendable {
  /// A guardian has withdrawn the consent to the app, or another app blocks the app.
  case restricted
  /// The device does not answer, or refuses the question.
  case unavailable
  /// The device's owner is no child of a family, or the request is for an individual.
  case invalidAccountType
  /// The child cancelled the question, or a guardian declined the question.
  case authorizationCanceled
  /// The family has no passcode to authenticate a guardian with.
  case authenticationMethodUnavailable

  init(_ problem: Problem) {
    self =
      switch problem {
      case .consentWithdrawn, .appBlocked, .ratedAbove: .restricted
      case .notAChild: .invalidAccountType
      case .noPasscode: .authenticationMethodUnavailable
      default: .unavailable
      }
  }
}
