public import FamilyModel

/// The guardians' consent to each app, by the statements about the app.
///
/// An app without a statement has consent. A guardian withdraws the consent, and gives the consent
/// back or approves a significant update of the app later.
public struct Consents: Hashable, Sendable {
  /// The statements about each app that has one: whether they withdraw the consent.
  public internal(set) var statements: [AppID: Statements<Bool>] = [:]

  /// Creates a state in which every app has consent.
  public init() {}

  /// Whether the consent to the app is withdrawn.
  public func isWithdrawn(_ app: AppID) -> Bool { statements[app]?.current?.value ?? false }

  /// The apps whose consent is withdrawn, in order.
  public var withdrawn: [AppID] { statements.keys.filter(isWithdrawn).sorted() }

  /// Applies an event that states a consent.
  ///
  /// - Parameter question: Returns the question of a decision, or `nil` if it is unknown.
  /// - Returns: The app, if the event's statement is now the current one about the app.
  @discardableResult
  mutating func apply(_ event: Event, question: (QuestionID) -> QuestionState?) -> AppID? {
    switch event.body {
    case .withdrawn(_, .withdrawal(.consent(let app))):
      return state(app, isWithdrawn: true, event.order)
    case .withdrawn(_, .withdrawal(.consentGiven(let app))):
      return state(app, isWithdrawn: false, event.order)
    case .decided(let decision) where decision.choice.answer == .approval:
      guard let state = question(decision.question) else { return nil }
      return approve(state.question, state.header.app, event.order)
    case .answeredInPerson(let header, .question(let question), let decision, _)
    where decision.choice.answer == .approval:
      return approve(question, header.app, event.order)
    default: return nil
    }
  }

  /// Approval of a significant update is consent to the app. Other approvals change no consent.
  private mutating func approve(_ question: Question?, _ app: AppID, _ order: StatementOrder)
    -> AppID?
  {
    guard question?.topic.kind == .significantUpdate else { return nil }
    return state(app, isWithdrawn: false, order)
  }

  private mutating func state(_ app: AppID, isWithdrawn: Bool, _ order: StatementOrder)
    -> AppID?
  {
    statements[app, default: Statements()].add(isWithdrawn, order) ? app : nil
  }
}
