import FamilyModel

/// Checks that an app never receives a response again after acknowledging it.
///
/// An app that crashes between handling and acknowledging receives the response once more, with the
/// same choice.
public struct HandledOnce: Checker {
  public let name = "no response handled again"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var consumed: [AppAddress: Set<QuestionID>] = [:]
    var choices: [AppAddress: [QuestionID: String]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .appLostState(let app):
        consumed[app] = []
        choices[app] = [:]
      case .consumed(let app, let question): consumed[app, default: []].insert(question)
      case .handled(let app, let question, let choice):
        if consumed[app, default: []].contains(question) {
          return .violated("the app was given an acknowledged response again", at: index)
        }
        if let old = choices[app, default: [:]].updateValue(choice, forKey: question), old != choice
        {
          return .violated("the app was given two answers to one question", at: index)
        }
      default: break
      }
    }
    return .ok
  }
}
