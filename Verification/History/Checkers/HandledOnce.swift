import FamilyModel

/// The app's code does not get a response again once it has acknowledged it (R6).
///
/// Before that it may: an app that crashes between handling and acknowledging handles it once more.
public struct HandledOnce: Checker {
  public let name = "no response handled again"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var settled: [AppAddress: Set<QuestionID>] = [:]
    var choices: [AppAddress: [QuestionID: String]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .appForgot(let app):
        settled[app] = []
        choices[app] = [:]
      case .settled(let app, let question): settled[app, default: []].insert(question)
      case .handled(let app, let question, let choice):
        if settled[app, default: []].contains(question) {
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
