/// The result of a checker for one history.
public enum Verdict: Hashable, Sendable {
  /// The property holds.
  case ok
  /// The property is violated, with a description and the entry that shows it; `nil` if no single
  /// entry does.
  case violated(String, at: Int?)
  /// The history lacks the facts for a verdict; the text names the reason.
  case unknown(String)

  /// Whether the verdict is `violated`.
  public var isViolated: Bool { if case .violated = self { true } else { false } }
}

/// A test of a history against one required property. A checker is a pure function.
public protocol Checker: Sendable {
  /// The property's name in reports.
  var name: String { get }
  /// Checks the whole history.
  func check(_ history: History) -> Verdict
}

extension History {
  /// The checkers of all required properties.
  public static let checkers: [any Checker] = [
    NothingLost(), NothingTwice(), OneDecision(), OneOrder(), AudienceKept(), RightfulEvents(),
    KnownHandlesRight(), HandledOnce(), AgesDeclared(), EverythingArrives(),
  ]

  /// The checkers of properties that need facts about each author, each roster and each view. Chaos
  /// records the views only; the simulator records all these facts.
  public static let truthCheckers: [any Checker] = [
    OneTruth(), HandlesApproved(), NobodyReturns(), NothingForged(), GuessesBounded(),
  ]

  /// The checkers of histories whose facts have the order in which they happened, across processes.
  public static let orderCheckers: [any Checker] = [TimesFollowed()]

  /// The verdict of each checker, in the given order.
  ///
  /// - Parameter checkers: The checkers to ask.
  public func verdicts(of checkers: [any Checker] = Self.checkers)
    -> [(name: String, verdict: Verdict)]
  {
    checkers.map { ($0.name, $0.check(self)) }
  }
}
