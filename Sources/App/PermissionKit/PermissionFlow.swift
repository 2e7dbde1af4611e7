import DeviceConnection
import FamilyModel

/// The first prompt of a request about a significant update.
public enum PermissionFlow: Hashable, Sendable {
  /// The device first shows an alert with Ask to Approve, Approve in Person and Cancel, and then
  /// the chosen path.
  ///
  /// The alert itself approves nothing. An adult acknowledges an update with
  /// `AgeRangeService.showSignificantUpdateAcknowledgment` instead.
  case acknowledgmentAlert
  /// The device asks for the family's Screen Time passcode, which a guardian types.
  case approveInPerson
  /// The device opens the compose sheet with a message to the guardians.
  case askToApprove

  var manner: AskManner {
    switch self {
    case .acknowledgmentAlert: .choose
    case .approveInPerson: .inPerson
    case .askToApprove: .byMessage
    }
  }
}

/// The outcome of ``AskCenter/askSignificantChangePermission(for:permissionFlow:in:)``.
public enum PermissionResult: Hashable, Sendable {
  /// The request ended on the compose sheet, or before it.
  ///
  /// A `didSend` of `true` means that the message is in the device's outbox. With `false`, no
  /// message was sent: an earlier question about the same update is open, or the person has no
  /// family. In the second case the default choice is the response.
  case askToApprove(didSend: Bool)
  /// A guardian decided on this device with the passcode.
  case approveInPerson(approved: Bool)
  /// The person cancelled. No response follows.
  case cancel

  init(_ outcome: AskOutcome) {
    self =
      switch outcome {
      case .sent: .askToApprove(didSend: true)
      case .alreadyAsked, .answeredByDefault, .refused: .askToApprove(didSend: false)
      case .answeredInPerson(let approved): .approveInPerson(approved: approved)
      // Only an adult acknowledges, through another call.
      case .acknowledged, .cancelled: .cancel
      }
  }
}
