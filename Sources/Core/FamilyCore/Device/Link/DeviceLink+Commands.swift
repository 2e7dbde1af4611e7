import FamilyModel

/// Commands on their way to the relay, its replies, and the end of each step.
extension DeviceLink {
  mutating func send(_ command: Command, id: CommandID, now: Instant, into out: inout Output)
    throws(Problem)
  {
    guard !outbox.isFull else { throw .tooMany }
    out.changes.append(outbox.add(id, command))
    if state == .attached { outbox.postpone(id, until: now) }
  }

  /// It is the turn of this question; one that has left meanwhile needs none.
  mutating func mayAsk(_ id: CommandID, now: Instant) {
    if state == .attached { outbox.giveTurn(id, now: now) }
  }

  mutating func reply(_ id: UInt64, _ reply: Reply, now: Instant, into out: inout Output) {
    switch reply {
    case .attached(let channels): attached(channels, now: now, into: &out)
    case .page(let audience, let events, let more):
      guard let request = fetching[audience], request.requestID == id else { return }
      let before = delivered(audience)
      for event in events where event.audience == audience { receive(event, now: now, into: &out) }
      let isBehind =
        more || events.contains { $0.audience == audience && $0.seq > delivered(audience) }
      // A page that does not go on from here, as of a relay that has lost events, is not asked for again
      // at once, but when this request is due again, with growing delays.
      if isBehind, delivered(audience) == before { return }
      fetching[audience] = nil
      if isBehind { fetch(audience, now: now, into: &out) }
    case .accepted(let id, _): settle(id, nil, now: now, into: &out)
    case .refused(let id, let problem):
      if problem.code >= Problem.overloaded.code {
        outbox.backOff(id, atLeast: problem.retryAfter, now: now)
      } else if problem == .stale {
        // A change of the family is made anew from the family as it is now.
        outbox.postpone(id, until: now + Timing.requestFirst)
      } else {
        settle(id, problem, now: now, into: &out)
      }
    case .joined: break
    case .pong:
      awaitsPong = false
      if state == .attached { due = nextPing(now) }
    case .failed(let problem):
      if problem == .notEnrolled { out.shutOut = problem }
    }
  }

  mutating func settle(
    _ id: CommandID, _ problem: Problem?, now: Instant, into out: inout Output
  ) {
    guard let (command, change) = outbox.remove(id) else { return }
    out.changes.append(change)
    settled(command, problem, now: now)
    if case .shareKeys = command { return }
    out.outcomes.append((command, problem))
  }

  /// Everything that a step leaves to the end: cursors, commands that are due, one acknowledgement.
  mutating func finish(_ now: Instant, into out: inout Output) {
    out.changes += moved.sorted().compactMap { cursors[$0].map { .put(.cursor($0)) } }
    moved = []
    if let due = newcomersDue, due <= now { shareWithNewcomers(now, into: &out) }
    sendDue(now, into: &out)
    guard state == .attached, !unacknowledged.isEmpty else { return }
    request(.acknowledge(unacknowledged.sorted().compactMap { cursors[$0] }), into: &out)
    unacknowledged = []
  }

  /// This device listens, and so hears its own event: the first time it asks for no answer beside that. What
  /// is lost on the way is asked for again, with a number.
  mutating func request(_ ready: SignedCommand, attempt: Int, into out: inout Output) {
    let command = Request.command(ready.id, ready.command, ready.signature)
    if attempt > 1 { return request(command, into: &out) }
    out.sends.append(.send(0, command))
  }
}
