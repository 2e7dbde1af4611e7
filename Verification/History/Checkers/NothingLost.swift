import FamilyModel

/// No acknowledged command is lost: what the sender was told stands in the log, at the place it was told (X2).
public struct NothingLost: Checker {
  public let name = "nothing acknowledged is lost"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    for (index, fact) in history.facts {
      guard case .acknowledged(let device, let command, let seq) = fact else { continue }
      guard let event = log.event(device.family, seq) else {
        return .violated("event \(seq) of family \(device.family.rawValue) is gone", at: index)
      }
      // The same question may have been asked under another command's id before: then that event stands.
      if event.command != command, !Self.isSameQuestion(event) {
        return .violated(
          "event \(seq) of family \(device.family.rawValue) is of another command", at: index)
      }
    }
    return .ok
  }

  private static func isSameQuestion(_ event: Event) -> Bool {
    switch event.body {
    case .asked, .answeredInPerson: true
    default: false
    }
  }
}
