import FamilyModel

/// The outstanding request of an audience's page, with its repetitions.
struct PageRequest: Equatable, Sendable {
  /// The first and the last number. The reply to any of them is the page: a relay under load answers
  /// the first one after its time-out, and would otherwise read every page in vain.
  var first: UInt64
  let last: UInt64
  /// The time of the next repetition.
  var due: Instant
  /// The power of two by which the time-out is longer than the first one.
  let attempts: Int
  /// The newest event that the device learned of after the request. The relay may have written the
  /// page before it.
  var newest: UInt64 = 0

  fileprivate init(_ requestID: UInt64, _ attempts: Int, now: Instant) {
    (first, last, self.attempts) = (requestID, requestID, attempts)
    due = now + Timing.backoff(attempts, Timing.firstRequestTimeout, Timing.longestRequestTimeout)
  }
}

/// Reading audiences without gaps and without repetition.
extension DeviceLink {
  /// Applies an event that this device makes itself, for a person without a family.
  mutating func applyLocally(
    _ body: Event.Body, id: CommandID, now: Instant, into out: inout Output
  ) {
    let audience = Audience.account(personID)
    let last = delivered(audience)
    var event = Event(
      seq: last + 1, previous: last, audience: audience, command: id, device: address.device,
      at: now, body: body)
    if let verifier { event.hash = verifier.hash(event, after: verifier.head(audience)) }
    receive(event, now: now, into: &out)
  }

  mutating func broadcast(_ broadcast: Broadcast, now: Instant, into out: inout Output) {
    switch broadcast {
    case .event(let event): receive(event, now: now, into: &out)
    case .head(let audience, let seq):
      if seq > delivered(audience) { fetch(audience, upTo: seq, now: now, into: &out) }
    case .receipt(let audience, let receipt): advanceReceipt(audience, receipt, into: &out)
    }
  }

  mutating func markRead(_ audience: Audience, upTo seq: UInt64) {
    guard var cursor = cursors[audience], cursor.read < min(seq, cursor.delivered) else { return }
    cursor.read = min(seq, cursor.delivered)
    moveCursor(to: cursor)
  }

  mutating func receive(_ event: Event, now: Instant, into out: inout Output) {
    let delivered = delivered(event.audience)
    guard event.seq > delivered else {
      if verifier?.relation(of: event.position, event.audience) == .differs {
        return reread(event.audience, now: now, into: &out)
      }
      // A republished event: the relay has lost this device's acknowledgement.
      unacknowledged.insert(event.audience)
      return
    }
    guard event.previous <= delivered else {
      return fetch(event.audience, upTo: event.seq, now: now, into: &out)
    }
    guard verifier?.append(event) ?? (event.previous == delivered) else {
      return reread(event.audience, now: now, into: &out)
    }
    rereads[event.audience] = nil
    if coverage?.lacks(event.audience, event.seq) ?? false { dropSnapshot(into: &out) }
    storedWhileRequested(event)
    var cursor = cursors[event.audience] ?? Cursor(event.audience, delivered: 0)
    cursor.delivered = event.seq
    moveCursor(to: cursor)
    let before = out.events.count
    let unopened = verifier?.unopenedCount ?? 0
    let reading = verify(event, into: &out)
    checkWithheld(now: now, into: &out)
    out.changes.append(.put(record(of: event, reading, out.events[before...])))
    // The first attempt of a command has no other acknowledgement than its own event. A deferred
    // event may be a forgery, and acknowledges nothing before it is verified.
    for event in out.events[before...] { hasRead(event, now: now, into: &out) }
    if reading == .repeated { hasRead(event, now: now, into: &out) }
    if reading == .rejected || reading == .rejectedForNow {
      endConfirmed(event, now: now, into: &out)
    }
    guard verifier != nil else { return }
    if !isBehind { resume(now: now) }
    for event in out.events[before...] where event.body.mayBringReaders {
      sender.newcomersDue = now
    }
    // A check that is scheduled already finds the new keys as well.
    if verifier!.unopenedCount > unopened { sender.complaintsDue = sender.complaintsDue ?? now }
  }

  /// Ends what waits for the event of a command.
  private mutating func hasRead(_ event: Event, now: Instant, into out: inout Output) {
    if event.device == address.device { complete(event.command, nil, now: now, into: &out) }
    foundQuestion(event, now: now)
  }

  /// Ends a command whose event is in the relay's history and counts for nothing, because this device
  /// knows another answer.
  private mutating func endConfirmed(_ event: Event, now: Instant, into out: inout Output) {
    guard event.commandName?.device == address.device, let verifier,
      !sender.outbox.isGivenBack(event.command), sender.outbox.command(event.command) != nil,
      verifier.fits(event), verifier.isSigned(event, family.question)
    else { return }
    complete(event.command, nil, now: now, into: &out)
  }

  /// Requests a page unless one is outstanding.
  ///
  /// - Parameters:
  ///   - newest: An event that the relay has. A page that was requested earlier may lack it, and is
  ///     then not the last one.
  ///   - attempts: The power of two by which the time-out is longer than the first one.
  mutating func fetch(
    _ audience: Audience, upTo newest: UInt64 = 0, now: Instant, into out: inout Output,
    attempts: Int = 0
  ) {
    if let outstanding = fetching[audience]?.newest {
      return fetching[audience]!.newest = max(outstanding, newest)
    }
    guard state == .attached else { return }
    let requestID = sender.send(.fetch(audience, after: delivered(audience)), into: &out)
    fetching[audience] = PageRequest(requestID, attempts, now: now)
  }

  /// Repeats a request that has timed out.
  mutating func fetchAgain(_ audience: Audience, now: Instant, into out: inout Output) {
    guard let former = fetching.removeValue(forKey: audience) else { return }
    fetch(audience, now: now, into: &out, attempts: former.attempts + 1)
    fetching[audience]?.first = former.first
  }

  mutating func moveCursor(to cursor: Cursor) {
    cursors[cursor.audience] = cursor
    movedAudiences.insert(cursor.audience)
    unacknowledged.insert(cursor.audience)
  }

  mutating func advanceReceipt(_ audience: Audience, _ receipt: Receipt, into out: inout Output) {
    guard let child = audience.conversationChild else { return }
    var known = family.conversations[child]?.receipt ?? Receipt()
    guard receipt.delivered > known.delivered || receipt.read > known.read else { return }
    known.delivered = max(known.delivered, receipt.delivered)
    known.read = max(known.read, receipt.read)
    setReceipt(audience, known)
    out.changes.append(.put(.receipt(audience, known)))
  }

  /// Restores a receipt. The answers among the events may state a later one.
  mutating func restoreReceipt(_ audience: Audience, _ receipt: Receipt) {
    guard let child = audience.conversationChild else { return }
    let known = family.conversations[child]?.receipt ?? Receipt()
    setReceipt(
      audience,
      Receipt(
        delivered: max(known.delivered, receipt.delivered), read: max(known.read, receipt.read)))
  }

  mutating func setReceipt(_ audience: Audience, _ receipt: Receipt) {
    guard let child = audience.conversationChild else { return }
    family.setReceipt(receipt, of: child)
  }
}
