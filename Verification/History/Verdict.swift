/// What a checker says of a history.
public enum Verdict: Hashable, Sendable {
  /// What the checker looks for did not happen.
  case ok
  /// It happened: what, and at which entry of the history, or `nil` where no entry alone shows it.
  case violated(String, at: Int?)
  /// The history does not tell: why.
  case unknown(String)

  /// Whether it is `violated`.
  public var isViolated: Bool { if case .violated = self { true } else { false } }
}

/// One property of histories. It is a pure function.
public protocol Checker: Sendable {
  /// What the property is called, in reports.
  var name: String { get }
  /// Looks at the whole history.
  func check(_ history: History) -> Verdict
}

extension History {
  /// Every property that the system must have.
  public static let checkers: [any Checker] = [
    NothingLost(), NothingTwice(), OneDecision(), OneOrder(), AudienceKept(), RightfulEvents(),
    KnownHandlesRight(), HandledOnce(), AgesDeclared(), EverythingArrives(),
  ]

  /// What each checker says, in the order of ``checkers``.
  public func verdicts() -> [(name: String, verdict: Verdict)] {
    Self.checkers.map { ($0.name, $0.check(self)) }
  }
}
