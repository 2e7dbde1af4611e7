import FamilyModel

/// The connection to the relay, and its time-outs.
extension DeviceLink {
  mutating func connected(now: Instant, into out: inout Output) {
    state = .attaching
    attempts = 0
    attach(now: now, into: &out)
  }

  mutating func disconnected(now: Instant, into out: inout Output) {
    checkWithheld(now: now, into: &out)
    state = .detached
    mayLackSubscriptions = true
    failEvaluations(into: &out)
    due = nil
    awaitsPong = false
    awaitsAttachment = false
    fetching = [:]
    withholding?.last = nil
    sender.suspend()
  }

  /// Brings every deadline forward to the clock's new time, because it was set by the old one.
  mutating func clockSetBack(now: Instant) {
    // Waits that outlast a connection.
    sender.clockSetBack(now: now)
    rosterDue = rosterDue.map { min($0, now) }
    givingBacks = givingBacks.mapValues { ($0.count, min($0.last, now)) }
    (correctionDue, corrected) = (correctionDue.map { _ in now }, nil)
    (hearing.due, hearing.signed, hearing.last) = (nil, nil, nil)
    guard state != .detached else { return }
    due = state == .attached && hostAnnouncesPresence ? nextPing(now: now) : now
    for audience in fetching.keys.sorted() { fetching[audience]!.due = now }
    for number in evaluations.keys.sorted() { evaluations[number]!.due = now }
    if state == .attached { sender.restart(now: now) }
  }

  mutating func timer(now: Instant, into out: inout Output) {
    for audience in fetching.keys.sorted() where fetching[audience]!.due <= now {
      fetchAgain(audience, now: now, into: &out)
    }
    repeatEvaluations(now: now, into: &out)
    checkWithheld(now: now, into: &out)
    correctAcknowledgements(now: now, into: &out)
    guard let due, due <= now else { return }
    if state == .attached, !awaitsPong, !awaitsAttachment {
      awaitsPong = true
      self.due = now + Timing.firstRequestTimeout * 5
      sender.send(.ping, into: &out)
    } else if state != .detached {
      state = .attaching
      attach(now: now, into: &out)
    }
  }

  /// Sends the cursors.
  ///
  /// - Parameter restarts: Whether the commands become due with the relay's reply.
  mutating func attach(now: Instant, into out: inout Output, restarts: Bool = true) {
    restartsOutbox = restarts
    awaitsPong = false
    awaitsAttachment = true
    fetching = [:]
    if correctionDue != nil { (correctionDue, corrected) = (nil, now) }
    attachment = (sender.send(.attach(position), into: &out), position)
    let timeout = Timing.backoff(
      attempts, Timing.firstRequestTimeout, Timing.longestRequestTimeout)
    // The devices of a relay that has ended do not repeat their requests together.
    due = now + timeout + (attempts == 0 ? .zero : jitter(below: timeout / 2))
    attempts += 1
  }

  /// The relay has not handled a request: it has too much to read. The device sends the request again
  /// when the relay says.
  mutating func postpone(_ id: UInt64, by retryAfter: Milliseconds, now: Instant) {
    guard retryAfter > .zero else { return }
    let retryAfter = min(retryAfter, Timing.longestPostponement)
    if awaitsAttachment, id == attachment.requestID {
      due = now + retryAfter + jitter(below: retryAfter / 4)
    }
    for audience in fetching.keys.sorted() where fetching[audience]!.last == id {
      fetching[audience]!.due = now + retryAfter + jitter(below: retryAfter / 4)
    }
  }

  private mutating func jitter(below limit: Milliseconds) -> Milliseconds {
    limit > .zero ? Timing.jitter(sender.randomBits(), below: limit) : .zero
  }

  mutating func attached(
    _ channels: [Channel], requestID: UInt64, now: Instant, into out: inout Output
  ) {
    guard state != .detached else { return }
    isRefused = false
    // The relay also sends this reply unrequested, to a device whose ping was late.
    // A relay that has started approves no subscription before it has read the family.
    let resubscribes = state == .attached || mayLackSubscriptions
    mayLackSubscriptions = false
    state = .attached
    attempts = 0
    awaitsPong = false
    // The reply may be older than the last request.
    awaitsAttachment = awaitsAttachment && attachment.requestID != requestID
    if !awaitsAttachment { due = nextPing(now: now) }
    out.sends.append(.listen(channels, resubscribes: resubscribes))
    familyHead = channels.first { $0.audience == .family }?.head ?? familyHead
    accountHead = channels.first { $0.audience == .account(personID) }?.head ?? accountHead
    sender.newcomersDue = verifier == nil ? nil : now
    sender.complaintsDue = verifier == nil ? nil : now
    let sent = attachment.requestID == requestID ? attachment.cursors : []
    for channel in channels {
      verifier?.open(channel.audience)
      advanceReceipt(channel.audience, channel.receipt, into: &out)
      if channel.head > delivered(channel.audience) {
        fetch(channel.audience, now: now, into: &out)
      } else if differs(channel, attached: sent) {
        reread(channel.audience, now: now, into: &out)
      } else {
        giveBack(channel.audience, now: now, into: &out)
      }
    }
    checkWithheld(now: now, into: &out)
    if restartsOutbox { sender.restart(now: now) }
    restartsOutbox = true
  }

  /// Attaches again after a change of the roster, to learn the channels of new audiences.
  mutating func reattach(now: Instant, into out: inout Output) {
    if state == .attached { attach(now: now, into: &out) }
  }
}
