public import FamilyCore
public import FamilyModel

extension Wording {
  /// The explanation as sentences: whether the handle is known, why, and what else matters.
  ///
  /// - Parameters:
  ///   - name: Returns a person's name.
  ///   - app: Returns an app as people read it.
  ///   - time: Returns a moment as text.
  public func sentences(
    _ explanation: HandleExplanation, name: (PersonID) -> String, app: (AppID) -> String,
    time: (Instant) -> String
  ) -> [String] {
    let handle = explanation.handle.value
    var sentences = [
      self(explanation.isKnown ? .explainKnown : .explainUnknown, handle, app(explanation.app))
    ]
    let number = explanation.request.map { "#\($0) · " } ?? ""
    sentences.append(number + sentence(explanation.rule, name: name, time: time))
    for rule in explanation.conditions {
      sentences.append(sentence(rule, name: name, time: time))
    }
    for miss in explanation.nearMisses {
      switch miss {
      case .otherApp(let other): sentences.append(self(.nearOtherApp, app(other)))
      case .otherKind(let known), .otherSpelling(let known):
        sentences.append(self(.nearOther, known.value))
      }
    }
    if let change = explanation.nextChange { sentences.append(self(.changesAt, time(change))) }
    return sentences
  }

  private func sentence(
    _ rule: HandleExplanation.Rule, name: (PersonID) -> String, time: (Instant) -> String
  ) -> String {
    switch rule {
    case .notAHandle(let problem): self(.ruleNotAHandle, "\(problem.code)")
    case .neverAsked: self(.ruleNeverAsked)
    case .sending: self(.ruleSending)
    case .waiting(let since, _): self(.ruleWaiting, time(since))
    case .expired(let at): self(.ruleExpired, time(at))
    case .cancelled(let asked): self(.ruleCancelled, time(asked))
    case .approved(let by, let at, let ends):
      [self(.ruleApproved, name(by), time(at)), ends.map { self(.until, time($0)) }]
        .compactMap { $0 }.joined(separator: " · ")
    case .approvalEnded(let by, _, let ended): self(.ruleApprovalEnded, name(by), time(ended))
    case .declined(let by, let at): self(.ruleDeclined, name(by), time(at))
    case .withdrawn(let by, let at): self(.ruleWithdrawn, name(by), time(at))
    case .contact(let by, let at): self(.ruleContact, name(by), time(at))
    case .contactRemoved(let by, let at): self(.ruleContactRemoved, name(by), time(at))
    case .unreadable: self(.ruleUnreadable)
    case .limitsOff: self(.ruleLimitsOff)
    case .consentWithdrawn(let by, let at): self(.ruleConsentWithdrawn, name(by), time(at))
    case .ratedAbove: self(.ruleRatedAbove)
    case .notTaken: self(.ruleNotTaken)
    case .neverListened: self(.ruleNeverListened)
    case .notNamed: self(.ruleNotNamed)
    }
  }

  /// The text of a desktop notification, or `nil` for a notice that needs none.
  ///
  /// A locked screen may show the text to anybody, so that it names no person, app or handle.
  public func desktop(_ notice: Notice, isGuardian: Bool) -> String? {
    switch notice {
    case .decided: self(isGuardian ? .desktopDecidedGuardian : .desktopDecided)
    case .withdrawn(.consentGiven, _): self(isGuardian ? .desktopDecidedGuardian : .desktopDecided)
    case .withdrawn: self(.desktopWithdrawn)
    case .ageShared: self(.desktopAgeShared)
    case .message: self(.desktopMessage)
    case .reminded: self(.desktopReminded)
    case .ratingsRaised: self(.desktopRating)
    case .deviceAdded: self(.desktopDevice)
    case .refused, .noPasscode, .passcodeNotSet, .eventRejected, .historyLost, .unopened,
      .appRejected,
      .wantsToJoin,
      .shutOut, .ratingRaised:
      nil
    }
  }
}
