import FamilyModel

/// Verifying events, and applying those that verify.
extension DeviceLink {
  /// The result of reading an event.
  enum Reading {
    case applied, deferred, repeated, rejected
    /// Rejected, and kept because a later version may verify the event.
    case rejectedForNow
  }

  /// Verifies and applies an event, and then the deferred events that it makes checkable.
  @discardableResult
  mutating func verify(_ event: Event, into out: inout Output) -> Reading {
    guard verifier != nil else {
      apply(event, event, into: &out)
      return .applied
    }
    if event.body.isOpaque { hasReadNewer = true }
    switch verifier!.verify(event, question: family.question) {
    case .deferred:
      if verifier!.hasFork { out.rejected.append(.forked) }
      // Another event may wait for this one, whether it counts or not.
      retryDeferred(into: &out)
      return .deferred
    case .rejected(let problem):
      let isReread = event.seq <= rereadEnds[event.audience] ?? 0
      // After a fork, devices give lost statements back at new positions.
      let isExpected =
        problem == .replayed
        ? rereadEnds[event.audience] != nil
        : isReread && event.body.isJoin || event.body.isOfNewerRelay
      if !isExpected { out.rejected.append(problem) }
      retryDeferred(into: &out)
      guard problem == .replayed, verifier!.repeats(event, family.question) else {
        return keepsRejected(problem) ? .rejectedForNow : .rejected
      }
      // After a restart the event would count for nothing, so its lost copy stays.
      guard verifier!.fits(event) else { return .deferred }
      // The event of the same command may be in a history that the relay does not show any more.
      found(event, into: &out)
      retryDeferred(into: &out)
      return .repeated
    case .verified(let opened):
      if verifier!.hasFork || verifier!.contradictsHeads(of: event) {
        out.rejected.append(.forked)
      }
      apply(opened, event, into: &out)
    }
    retryDeferred(into: &out)
    return .applied
  }

  /// Verifies and applies the deferred events that became checkable.
  private mutating func retryDeferred(into out: inout Output) {
    var hasProgress = verifier!.deferred.hasReady
    while hasProgress {
      hasProgress = false
      for (event, verdict) in verifier!.retryDeferred(question: family.question) {
        switch verdict {
        case .deferred: break
        case .rejected(let problem): out.rejected.append(problem)
        case .verified(let opened):
          if verifier!.hasFork { out.rejected.append(.forked) }
          apply(opened, event, into: &out)
          if opened.body.isOpaque { out.changes += changes(marking: event) }
          if opened.body.isWebReport { out.changes += event.passing }
          hasProgress = true
        }
      }
    }
  }

  /// Applies a verified event.
  ///
  /// - Parameter signed: The event as its signer signed it. Its roster may have persons and devices
  ///   that were removed.
  private mutating func apply(_ event: Event, _ signed: Event, into out: inout Output) {
    if event.body.isOpaque { hasReadNewer = true }
    sender.observe(event)
    family.apply(event)
    out.changes += applyWebReports(event)
    hear(event)
    if event.isRoster {
      kept.add(signed)
      // Apps need the roster that it changes, too.
      if !(verifier?.changesLastRoster(signed) ?? true) { out.hasMovedRosters = true }
    } else if event.body.takesPermission && event.device != address.device {
      kept.add(event)
    }
    // An erased statement cannot be sealed again.
    if event.commandName?.device == address.device, !event.body.isErased { statements.add(event) }
    if case .rosterChanged(let roster) = event.body, roster.device(address.device) != nil {
      joined = joined ?? event.at
    }
    out.events.append(event)
  }
}

extension Event.Body {
  /// Whether the event is a request to join. Its invitation may have ended before a reread.
  fileprivate var isJoin: Bool { if case .joinRequested = self { true } else { false } }

  /// Whether only a newer relay accepts the kind. This version does not know who may sign it.
  fileprivate var isOfNewerRelay: Bool {
    if case .opaque(let body) = self { !body.isStatement } else { false }
  }

  /// Whether the event states a value for which the later of two statements counts.
  var isOrderedByTime: Bool {
    switch self {
    case .limitsChanged, .accountChanged, .contactChanged, .withdrawn, .decided, .answeredInPerson,
      .passcodeChanged, .settingsChanged, .opaque:
      true
    case .rosterChanged, .asked, .reminded, .cancelled, .posted, .invited, .joinRequested,
      .ageNoted, .ageSet, .keysShared, .complained, .beat:
      false
    }
  }

  /// Whether a device may lack keys after this event that this device has.
  var mayBringReaders: Bool {
    switch self {
    case .rosterChanged, .keysShared, .complained: true
    default: false
    }
  }
}
