import AppClient
import DeviceConnection
import FamilyModel

/// The reason why an authorization failed.
public enum FamilyControlsError: Int, Error, Hashable, Sendable {
  /// A guardian has withdrawn the consent to the app, another app blocks the app, or the app is rated above
  /// the child's ceiling.
  case restricted
  /// The device does not answer, or refuses the question.
  case unavailable
  /// The device's owner is an adult of a family, or the request is for an individual.
  case invalidAccountType
  /// The child cancelled the question, a guardian declined the question, or the device's owner has no
  /// family.
  case authorizationCanceled
  /// The family has no passcode to authenticate a guardian with. Never thrown: the child then asks by
  /// message.
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
