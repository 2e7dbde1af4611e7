import FamilyModel
import Wording

/// The reason why the server refuses an act at once.
struct ActRefusal: Error {
  var problem: Problem
  /// The reason in the client's language; `nil`: the problem's number.
  var text: String?

  init(_ problem: Problem, _ text: String? = nil) {
    self.problem = problem
    self.text = text
  }

  func document(_ wording: Wording) -> ActReply.Refusal {
    ActReply.Refusal(
      code: Int(problem.code), text: text ?? wording(.notDone, "\(problem.code)"))
  }
}
