import FamilyCore
import FamilyModel

/// Checks that no acknowledged command is lost: the log holds it at the acknowledged sequence
/// number.
public struct NothingLost: Checker {
  public let name = "nothing acknowledged is lost"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var questions: [DeviceAddress: [CommandID: QuestionID]] = [:]
    for (index, fact) in history.facts {
      if case .issued(let device, let command, let entry) = fact, let question = entry.question {
        questions[device, default: [:]][command] = question
      }
      guard case .acknowledged(let device, let command, let seq) = fact else { continue }
      guard let event = log.event(device.family, seq) else {
        return .violated("event \(seq) of family \(device.family.rawValue) is gone", at: index)
      }
      // A question repeated under another command id is acknowledged with the original event.
      if event.command != command,
        event.body.newQuestion.map({ $0.id != questions[device]?[command] }) ?? true
      {
        return .violated(
          "event \(seq) of family \(device.family.rawValue) is of another command", at: index)
      }
    }
    return .ok
  }
}
