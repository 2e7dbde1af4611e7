import FamilyModel

/// Verifying events, and applying those that verify.
extension DeviceLink {
  /// Verifies and applies an event, and then the deferred events that it makes checkable.
  ///
  /// - Returns: `false` if the event was rejected.
  @discardableResult
  mutating func verify(_ event: Event, into out: inout Output) -> Bool {
    guard verifier != nil else {
      apply(event, into: &out)
      return true
    }
    switch verifier!.verify(event, question: family.question) {
    case .deferred: return true
    case .rejected(let problem):
      out.rejected.append(problem)
      return false
    case .verified(let opened): apply(opened, into: &out)
    }
    var hasProgress = !verifier!.deferred.isEmpty
    while hasProgress {
      hasProgress = false
      for (event, problem) in verifier!.retryDeferred(question: family.question) {
        if let problem {
          out.rejected.append(problem)
          continue
        }
        apply(event, into: &out)
        hasProgress = true
      }
    }
    return true
  }

  private mutating func apply(_ event: Event, into out: inout Output) {
    sender.observe(event)
    family.apply(event)
    if case .rosterChanged(let roster) = event.body, roster.device(address.device) != nil {
      joined = joined ?? event.at
    }
    out.events.append(event)
  }
}

extension Event.Body {
  /// Whether the event states a value for which the later of two statements counts.
  var isOrderedByTime: Bool {
    switch self {
    case .limitsChanged, .accountChanged, .contactChanged, .withdrawn, .decided, .answeredInPerson,
      .passcodeChanged:
      true
    case .rosterChanged, .asked, .reminded, .cancelled, .posted, .invited, .joinRequested,
      .ageNoted, .ageSet, .keysShared:
      false
    }
  }

  /// Whether a device may lack keys after this event that this device has.
  var mayBringReaders: Bool {
    switch self {
    case .rosterChanged, .keysShared: true
    default: false
    }
  }
}
