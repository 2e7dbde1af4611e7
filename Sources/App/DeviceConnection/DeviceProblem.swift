package import FamilyModel

/// The numbered reason why a call of an app failed.
///
/// The numbers are those of the whole project, so that logs and errors name the same reason.
public struct DeviceProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number, such as 301. A number is never reused.
  public let number: Int
  /// The number with its meaning, and a sentence about the limit or the next step.
  public let description: String

  /// A problem with an optional sentence about the limit or the next step.
  package init(_ problem: Problem, advice: String? = nil) {
    number = Int(problem.code)
    description = [problem.description, advice].compactMap { $0 }.joined(separator: ". ")
  }
}
