import FamilyModel

/// Checks that a question has one decision, the same on every device and in the log.
///
/// An app's default answer is no decision of the family and is not checked.
public struct OneDecision: Checker {
  public let name = "one decision per question"
  /// Creates the checker.
  public init() {}

  private struct Name: Hashable {
    var family: FamilyID
    var question: QuestionID
  }

  public func check(_ history: History) -> Verdict {
    var decisions: [Name: String] = [:]
    var logged: Set<Name> = []
    func isNew(_ name: Name, _ choice: String) -> Bool {
      let known = decisions[name]
      if known == nil { decisions[name] = choice }
      return known == nil || known == choice
    }
    for (index, fact) in history.facts {
      switch fact {
      case .decided(let device, let question, let choice):
        if !isNew(Name(family: device.family, question: question), choice) {
          return .violated("device \(device.device.rawValue) shows another decision", at: index)
        }
      case .stored(let family, let event):
        guard let decision = Self.decision(event) else { continue }
        let name = Name(family: family, question: decision.question)
        if !logged.insert(name).inserted {
          return .violated("event \(event.seq) decides a decided question", at: index)
        }
        if !isNew(name, decision.choice.id) {
          return .violated("event \(event.seq) differs from the decision on a device", at: index)
        }
      default: break
      }
    }
    return .ok
  }

  static func decision(_ event: Event) -> Decision? {
    switch event.body {
    case .decided(let decision), .answeredInPerson(_, _, let decision, _): decision
    default: nil
    }
  }
}
