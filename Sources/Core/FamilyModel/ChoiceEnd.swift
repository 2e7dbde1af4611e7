/// The end of an approval that does not hold until a guardian withdraws it.
public enum ChoiceEnd: Hashable, Sendable {
  /// The approval ends this long after the decision.
  case after(Milliseconds)
  /// The approval ends at this moment, however late the decision is.
  case at(Instant)

  /// The end of an approval that was decided at this moment.
  public func moment(decidedAt decision: Instant) -> Instant {
    switch self {
    case .after(let duration): decision + duration
    case .at(let moment): moment
    }
  }

  /// Checks the end of a choice.
  ///
  /// - Throws: `badEnd` for an end in the past or beyond the limit, of a denial, or of an approval
  ///   that makes no handle known.
  func validate(_ answer: Answer, _ topic: Topic.Kind, now: Instant) throws(Problem) {
    let length = moment(decidedAt: now) - now
    guard answer == .approval, topic != .significantUpdate,
      Limits.shortestApproval...Limits.longestApproval ~= length
    else { throw .badEnd }
  }
}
