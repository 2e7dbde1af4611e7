/// Checks what the simulator observes about honest participants alone.
///
/// - No app rejects what its device shows.
/// - An event is shown as delivered only if a guardian's device has stored it.
/// - A restart at rest changes no view.
/// - No queue exceeds its limit.
public struct PromisesKept: Checker {
  public let name = "no promise is broken"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    for (index, fact) in history.facts {
      if case .breach(let what) = fact { return .violated(what, at: index) }
    }
    return .ok
  }
}
