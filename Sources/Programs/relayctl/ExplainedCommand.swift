import ArgumentParser
import FamilyModel
import ProgramOptions
import RelayClient
import RelayOperation

/// A failed command's explanation: the cause and the next step.
struct ControlError: Error, CustomStringConvertible {
  let description: String
  /// The problem's number that the explanation begins with; `nil` for other failures.
  let problem: Problem?

  init(_ description: String, problem: Problem? = nil) {
    self.description = description
    self.problem = problem
  }
}

/// A command that adds the next step to the relay's problems.
protocol ExplainedCommand: ParsableCommand {
  func perform() throws
}

extension ExplainedCommand {
  func run() throws {
    do { try perform() } catch let problem as Problem { throw ControlError(problem) }
  }
}

extension Problem {
  /// The next step after the relay refuses a request with this problem.
  var advice: String { entry?.nextStep ?? "Update relayctl to the relay's version." }
}

extension ControlError {
  /// The problem with its next step.
  init(_ problem: Problem) { self.init(problem, problem.advice) }

  /// The problem with an explanation of this case.
  init(_ problem: Problem, _ explanation: String) {
    self.init("\(problem). \(explanation)".printable, problem: problem)
  }
}

extension ExitStatus {
  /// The exit code of a failed command; `nil` for errors of options and arguments.
  init?(of error: any Error) {
    switch error {
    case is RelayUnreachable: self = .noRelay
    case let error as OperatorError where error.isSilence: self = .noRelay
    case is Problem: self = .refused
    case let error as ControlError: self = error.problem == nil ? .failure : .refused
    default: return nil
    }
  }
}
