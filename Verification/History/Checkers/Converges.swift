import FamilyModel

/// Checks that the system converges after the healing, in bounded time and with a bounded number of
/// messages.
///
/// Unlike ``EverythingArrives``, it compares no promise with the log: a dishonest relay loses
/// statements that it acknowledged.
public struct Converges: Checker {
  public let name = "honest members converge"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var hasConverged = false
    for (index, fact) in history.facts {
      if case .notConverged(let what) = fact {
        return .violated("not finished: \(what)", at: index)
      }
      if case .converged = fact { hasConverged = true }
    }
    return hasConverged ? .ok : .unknown("the history has no end")
  }
}
