public import FamilyModel

/// The guardians' consent to each app, by the newest statement about the app.
///
/// An app without a statement has consent. A guardian withdraws the consent, and gives the consent
/// back or approves a significant update of the app later.
public struct Consents: Hashable, Sendable {
  /// The newest statement about the consent to one app.
  public struct Statement: Hashable, Sendable {
    /// The id of the statement's command. Ids grow with time, so the larger one is the later
    /// statement.
    public var stamp: ID128
    /// Whether the statement withdraws the consent.
    public var isWithdrawn: Bool
  }

  /// The newest statement about each app that has one.
  public private(set) var statements: [AppID: Statement] = [:]

  /// Creates a state in which every app has consent.
  public init() {}

  /// Whether the consent to the app is withdrawn.
  public func isWithdrawn(_ app: AppID) -> Bool { statements[app]?.isWithdrawn ?? false }

  /// The apps whose consent is withdrawn, in order.
  public var withdrawn: [AppID] { statements.keys.filter(isWithdrawn).sorted() }

  /// Applies an event that states a consent.
  ///
  /// - Parameter question: Returns the question of a decision, or `nil` if it is unknown.
  /// - Returns: The app, if the event's statement is now the newest one about the app.
  @discardableResult
  mutating func apply(_ event: Event, question: (QuestionID) -> QuestionState?) -> AppID? {
    switch event.body {
    case .withdrawn(_, .withdrawal(.consent(let app))):
      return state(app, isWithdrawn: true, event.stamp)
    case .withdrawn(_, .withdrawal(.consentGiven(let app))):
      return state(app, isWithdrawn: false, event.stamp)
    case .decided(let decision) where decision.choice.answer == .approval:
      guard let state = question(decision.question) else { return nil }
      return approve(state.question, state.header.app, event.stamp)
    case .answeredInPerson(let header, .question(let question), let decision, _)
    where decision.choice.answer == .approval:
      return approve(question, header.app, event.stamp)
    default: return nil
    }
  }

  /// Approval of a significant update is consent to the app. Other approvals change no consent.
  private mutating func approve(_ question: Question?, _ app: AppID, _ stamp: ID128) -> AppID? {
    guard question?.topic.kind == .significantUpdate else { return nil }
    return state(app, isWithdrawn: false, stamp)
  }

  private mutating func state(_ app: AppID, isWithdrawn: Bool, _ stamp: ID128) -> AppID? {
    if let old = statements[app], old.stamp > stamp { return nil }
    statements[app] = Statement(stamp: stamp, isWithdrawn: isWithdrawn)
    return app
  }
}
