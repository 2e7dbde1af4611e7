import ArgumentParser
import FamilyModel

/// A failed command's explanation: the cause and the next step.
struct ControlError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A command that adds advice to the relay's problems.
protocol ExplainedCommand: ParsableCommand {
  func perform() throws
}

extension ExplainedCommand {
  func run() throws {
    do { try perform() } catch let problem as Problem {
      throw ControlError("\(problem). \(problem.advice)")
    }
  }
}

extension Problem {
  /// The next step after the relay refuses a request with this problem.
  var advice: String {
    switch self {
    case .notEnrolled:
      "The relay does not know this credential. Another relay issued it, or the device was removed "
        + "from the family: a guardian can invite the device again with `relayctl invite`."
    case .notPermitted:
      "This credential does not permit that. Only guardians of the family read conversations and "
        + "change settings for children."
    case .unknown:
      "The person, question or choice is no longer in the family. `relayctl settings` lists the "
        + "children, `relayctl pending` the open questions."
    case .alreadyAnswered, .expired, .cancelled: "`relayctl pending` lists the open questions."
    case .badText:
      "A text has 1 to \(Limits.textBytes) bytes, a name 1 to \(Limits.titleBytes), and a passcode "
        + "4 to 64 characters."
    case .emptyHandle, .handleTooLong: "A handle has 1 to \(Limits.handleBytes) bytes."
    case .badHandle:
      "A phone number has \(Limits.phoneDigits.lowerBound) to \(Limits.phoneDigits.upperBound) "
        + "digits, an e-mail address has one @ with text around it, and a user name has no control "
        + "characters."
    case .tooMany, .badFamily:
      "A family has at most \(Limits.persons) members and \(Limits.devices) devices."
    case .overloaded, .storeFailed:
      "Nothing was changed. Try again later; the relay's log has the cause."
    default: "Nothing was changed. Check that the relay and relayctl have the same version."
    }
  }
}
