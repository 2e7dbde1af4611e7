import FamilyModel

/// The enforcement of a withdrawn consent.
///
/// While the consent to an app is withdrawn, the device launches the app only to deliver the
/// withdrawal. The app's questions about people and its age requests fail. The app may still ask for
/// the consent to a significant update: a guardian's approval ends the restriction.
///
/// The state is derived from the log, whose events and the app entries that follow from them are
/// durable in one transaction.
extension ChildMachine {
  /// Applies an event to the consents, when the event arrives and after a restart.
  ///
  /// - Returns: The app, if the event's statement is now the current one about the app.
  @discardableResult
  mutating func updateConsents(_ event: Event) -> AppID? {
    guard let child = event.audience.conversationChild, child == link.personID,
      let app = consents.apply(event, question: { link.conversations[child]?.questions[$0] })
    else { return nil }
    let isWithdrawn = consents.isWithdrawn(app)
    update(app) { $0.isConsentWithdrawn = isWithdrawn }
    return app
  }

  /// Enforces an event's statement about a consent, and enqueues the statement for the app.
  mutating func applyConsent(
    _ event: Event, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    let before = consents
    guard let app = updateConsents(event) else { return }
    let isWithdrawn = consents.isWithdrawn(app)
    // An approved update reaches the app as a response, which contains the same statement.
    if case .withdrawn = event.body {
      enqueue(
        isWithdrawn ? .consentWithdrawn : .consentGiven, for: app, signed: [event.name],
        into: &out, effects: &effects)
    }
    if isWithdrawn {
      for request in ageRequests.endAll(of: app) {
        effects.append(.app(app, .age(request.id, .failed(.consentWithdrawn))))
      }
    }
    guard before.isWithdrawn(app) != isWithdrawn else { return }
    effects.append(.consentChanged(app, isWithdrawn: isWithdrawn, by: event.command))
  }

  /// The problem of a question that the app may not ask.
  func refusal(of question: Question, by app: AppID) -> Problem? {
    let kind = question.topic.kind
    if kind != .significantUpdate, consents.isWithdrawn(app) { return .consentWithdrawn }
    return kind == .communication && arePeopleDenied ? .peopleDenied : nil
  }

  /// Enqueues the current statement about the consent for an app that starts from the full set,
  /// unless the statement waits for the app already. The full set contains handles only.
  mutating func repeatConsent(
    to app: AppID, applied: UInt64, into out: inout DeviceLink.Output
  ) {
    guard let statements = consents.statements[app] else { return }
    let body: AppEntry.Body = consents.isWithdrawn(app) ? .consentWithdrawn : .consentGiven
    let evidence = evidence(statements.all.map(\.order.command), for: app)
    out.changes +=
      update(app) {
        guard $0.needsReset(applied: applied), !$0.holdsConsent(body) else { return [] }
        return $0.append(body, evidence)
      } ?? []
  }
}
