import ArgumentParser
import FamilyModel

/// What went wrong, and what to do.
struct ControlError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A command whose refusals by the relay say what to do.
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
  /// What to do when the relay refuses with it.
  var advice: String {
    switch self {
    case .notEnrolled:
      "The relay does not know this credential: it is for another relay, or the device has left the "
        + "family. `relayctl apply` writes credentials."
    case .notPermitted:
      "This credential may not do that. Conversations, and what is changed for children, are for "
        + "guardians of the family."
    case .unknown: "It is not in the family any more: `relayctl settings` shows who is."
    case .alreadyAnswered, .expired, .cancelled: "`relayctl pending` shows what is open."
    case .badText:
      "A text has 1 to \(Limits.textBytes) bytes, a name 1 to \(Limits.titleBytes), and a passcode "
        + "4 to 64 characters."
    case .emptyHandle, .handleTooLong: "A handle has 1 to \(Limits.handleBytes) bytes."
    case .tooMany, .badFamily:
      "A family has at most \(Limits.persons) members and \(Limits.devices) devices."
    case .overloaded, .storeFailed:
      "Nothing was changed. Try again later; the relay's log says more."
    default: "Nothing was changed. Are the relay and relayctl of one version?"
    }
  }
}
