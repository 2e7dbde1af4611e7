import FamilyModel

/// The choice of the lost statements that are given back.
extension DeviceLink {
  /// Whether a lost statement still states what this device knows, and can be accepted.
  func isInForce(_ command: Command, now: Instant) -> Bool {
    func conversation(_ child: PersonID) -> Conversation {
      family.conversations[child] ?? Conversation()
    }
    switch command {
    case .setLimits(let child, let on): return conversation(child).limitsOn == on
    case .setAccount(let person, .account(let account)): return accounts[person] == account
    case .setPasscode(let new): return passcode == new
    case .invite(let invitation): return invitation.expires > now
    case .ask(let header, _): return !header.hasExpired(at: now)
    case .answer(let id, let choice):
      guard let state = question(id) else { return true }
      if state.header.hasExpired(at: now) { return false }
      let isApproval = state.header.choice(choice)?.answer == .approval
      return !isApproval || isInForce(approvalOf: state)
    case .changeContact(let child, .contact(let handle, let isKnown)):
      return conversation(child).known.isContact(handle) == isKnown
    case .changeContact(let child, .contactName(let handle, let name)):
      return conversation(child).name(of: handle) ?? "" == name
    case .withdraw(let child, .withdrawal(.handle(let handle, let app?))):
      return !conversation(child).known.contains(handle, in: app)
    case .withdraw(let child, .withdrawal(.handle(let handle, nil))):
      return !conversation(child).known.reasons.contains { $0.handle == handle.canonical }
    case .withdraw(let child, .withdrawal(.consent(let app))):
      return conversation(child).consents.isWithdrawn(app)
    case .withdraw(let child, .withdrawal(.consentGiven(let app))):
      return !conversation(child).consents.isWithdrawn(app)
    case .setAge(let person, .ageSettings(let settings), _):
      return family.ages[person]?.state.settings == settings
    case .changeSettings(let child, let content, _):
      return family.settings[child]?.states(content) ?? false
    default: return true
    }
  }

  /// Whether no later statement has taken what the approval of the question permitted.
  private func isInForce(approvalOf state: QuestionState) -> Bool {
    guard let conversation = family.conversations[state.header.child],
      let question = state.question
    else { return true }
    // After a restart, the device does not count its own lost approval.
    if state.phase == .open { return true }
    if question.topic.kind == .significantUpdate {
      return !conversation.consents.isWithdrawn(state.header.app)
    }
    let handles = question.topic.handles
    return handles.isEmpty
      || handles.contains { conversation.known.contains($0, in: state.header.app) }
  }
}
