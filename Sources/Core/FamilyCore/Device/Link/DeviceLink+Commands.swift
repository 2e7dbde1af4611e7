import FamilyModel

/// Commands, the relay's replies, and the end of each step.
extension DeviceLink {
  /// Enqueues a command.
  ///
  /// - Throws: `notEnrolled` after the device's removal, or the problem of an invalid command.
  mutating func send(_ command: Command, id: CommandID, now: Instant, into out: inout Output)
    throws(Problem)
  {
    if isShutOut { throw .notEnrolled }
    try check(command, now: now)
    try sender.enqueue(
      command, id: id, due: state == .attached ? now : nil,
      basedOnSeq: verifier?.head(.family).seq ?? 0,
      into: &out)
  }

  /// Cancels a question. A question that is still in the outbox leaves it, and nothing is sent. A
  /// cancellation of a question that the relay may have waits for the question's event.
  ///
  /// - Throws: As ``send(_:id:now:into:)``.
  mutating func cancel(
    _ question: QuestionID, id: CommandID, now: Instant, into out: inout Output
  ) throws(Problem) {
    if sender.withdrawAsk(of: question, into: &out) { return }
    try send(.cancel(question), id: id, now: now, into: &out)
  }

  /// The host has room for the question.
  mutating func admitted(_ id: CommandID, now: Instant) {
    if state == .attached { sender.admit(id, now: now) }
  }

  /// The command sealed and signed, after the key shares that its readers need.
  ///
  /// - Throws: `stale` if this device does not know the family well enough, or `unknown` if it does
  ///   not know the question.
  mutating func prepare(_ command: Command, id: CommandID?, now: Instant) throws(Problem)
    -> [SignedCommand]
  {
    try check(command, now: now)
    return try sender.prepare(
      command, id: id, now: now, family: family, verifier: &verifier, isBehind: isBehind)
  }

  /// Refuses a command that no later command could repair, or whose sealed content is invalid. The
  /// relay cannot read sealed contents.
  private func check(_ command: Command, now: Instant) throws(Problem) {
    switch command {
    case .setRoster(let next):
      try roster.checkSuccessor(next)
      try roster.checkRemoval(in: next)
      try verifier?.removedKeys.check(roster, next: next)
    case .addChild(let name):
      if roster.persons.contains(where: { $0.displayName.lowercased() == name.lowercased() }) {
        throw .conflict
      }
    case .setAccount(_, .account(let account)): try account.validate(now: now)
    default: break
    }
  }

  /// The command sealed as it would be sent now. Without a key the key is shared first.
  ///
  /// - Returns: `nil` while the key, or a part of the family's log, is missing.
  mutating func sealed(
    _ command: Command, id: CommandID, now: Instant, into out: inout Output
  ) -> Command? {
    switch sender.seal(
      command, id: id, family: family, verifier: verifier, isBehind: isBehind,
      at: sender.ids.relayTime(now: now))
    {
    case .sealed(let signed): return signed.command
    case .blocked, .unknownQuestion, .invalid: return nil
    case .lacksKey(let audience, let readers):
      // If no key can be made, the command fails later for the same reason.
      do throws(Problem) {
        try sender.shareNewKey(
          audience, readers, now: now, family: family, verifier: &verifier, into: &out)
      } catch {}
      return nil
    }
  }

  /// The digest of a sealed content that a proof of the passcode covers.
  func proofDigest(of content: Content?) -> [UInt8] {
    guard let vault = verifier?.vault else { return [] }
    return content?.proofDigest { vault.digest($0) } ?? []
  }

  mutating func reply(_ id: UInt64, _ reply: Reply, now: Instant, into out: inout Output) {
    switch reply {
    case .attached(let channels, let time):
      sender.learn(relayTime: time, now: now)
      attached(channels, requestID: id, now: now, into: &out)
    case .page(let audience, let events, let more):
      guard let request = fetching[audience], request.first <= id, id <= request.last else {
        return
      }
      let (before, wasReread) = (delivered(audience), rereads[audience] != nil)
      for event in events where event.audience == audience { receive(event, now: now, into: &out) }
      // A page that contradicts the chain starts a reread, with a request of its own.
      guard fetching[audience]?.last == request.last else { return }
      if wasReread, rereads[audience] != nil, before > 0 {
        // The page does not continue the chain either: the histories differ earlier.
        fetching[audience] = nil
        return reread(audience, now: now, into: &out)
      }
      let isBehind =
        more || events.contains { $0.audience == audience && $0.seq > delivered(audience) }
      // A relay that lost events returns a page that does not continue the chain. The request then
      // times out and is retried with growing delays.
      if isBehind, delivered(audience) == before { return }
      if !isBehind, id < request.last {
        // The relay wrote this page before the last repetition, whose page may have newer events.
        fetching[audience]?.first = id + 1
        return
      }
      fetching[audience] = nil
      if isBehind {
        // The next page takes about as long as this one.
        fetch(audience, now: now, into: &out, attempts: max(0, request.attempts - 1))
      } else if request.newest > delivered(audience) {
        fetch(audience, now: now, into: &out)
      } else {
        giveBack(audience, now: now, into: &out)
      }
    case .accepted(let id, let seq):
      // A relay can confirm a command and lose it. The command's event is the proof.
      guard let audience = audienceLackingEvent(of: id), sender.awaitEvent(of: id, now: now)
      else { return complete(id, nil, now: now, into: &out) }
      // The broadcast of the event may be lost.
      if seq > delivered(audience) { fetch(audience, upTo: seq, now: now, into: &out) }
      // Blocked commands do not wait for the event of their key.
      guard case .shareKeys(let audience, let wraps)? = sender.outbox.command(id) else { break }
      verifier?.keep(wraps, audience, isShared: true)
      resume(now: now)
    case .refused(let id, let problem):
      if sender.retry(id, after: problem, now: now, into: &out) {
        // The attachment compares the heads.
        if problem == .forked, state == .attached { attach(now: now, into: &out, restarts: false) }
        // The broadcast of the newest roster may not have arrived.
        if problem == .stale { fetch(.family, now: now, into: &out) }
        return
      }
      complete(id, problem, now: now, into: &out)
    case .joined: break
    case .pong:
      awaitsPong = false
      if state == .attached, !awaitsAttachment { due = nextPing(now: now) }
    case .evaluated(let evaluation):
      _ = endEvaluation(id, .success(evaluation), into: &out)
    case .failed(let problem):
      _ = endEvaluation(id, .failure(problem), into: &out)
      postpone(id, by: problem.retryAfter, now: now)
      if problem == .notEnrolled { isRefused = true }
      if problem == .notEnrolled || problem.concernsVersion { out.shutOut = problem }
    }
  }

  /// The audience of a pending command's event if this device reads it and has not read the event. A
  /// relay that has the question already stores no event for its repetition.
  private func audienceLackingEvent(of id: CommandID) -> Audience? {
    guard let command = sender.outbox.command(id),
      let outcome = command.outcome(question: { family.question($0)?.header }),
      family.mayRead(outcome.audience, address.device)
    else { return nil }
    if case .ask(let header, _) = command, family.question(header.id) != nil { return nil }
    let isLacking = verifier?.lacksEvent(of: id, by: address.device) ?? false
    return isLacking ? outcome.audience : nil
  }

  /// A command was accepted (`problem` is `nil`) or refused.
  mutating func complete(
    _ id: CommandID, _ problem: Problem?, now: Instant, into out: inout Output
  ) {
    if problem != nil { statements.remove(id) } else { sender.learnReplyTime(of: id, now: now) }
    if sender.complete(id, problem, verifier: &verifier, into: &out) { resume(now: now) }
  }

  /// Sends the blocked commands again: they may have their keys or the family's log now.
  mutating func resume(now: Instant) {
    if state == .attached { sender.resume(now: now) }
  }

  /// Ends a step: writes cursors, sends due commands and acknowledges once.
  ///
  /// - Returns: The notices of the step to the device's owner. Sending may add refusals.
  mutating func endStep(now: Instant, into out: inout Output) -> [DeviceEffect] {
    out.changes += movedAudiences.sorted().compactMap { cursors[$0].map { .put(.cursor($0)) } }
    movedAudiences = []
    if mayShareKeys, let due = sender.newcomersDue, due <= now {
      sender.shareWithNewcomers(now: now, family: family, verifier: &verifier, into: &out)
    }
    if mayShareKeys, let due = sender.complaintsDue, due <= now {
      sender.complain(now: now, verifier: verifier, into: &out)
    }
    giveRosterBack(now: now, into: &out)
    beat(now: now, into: &out)
    checkSilence(now: now, into: &out)
    if let due = sender.findDeadline(), due <= now {
      sender.sendDue(
        now: now, family: family, verifier: &verifier, isBehind: isBehind, into: &out)
    }
    if state == .attached, !unacknowledged.isEmpty {
      sender.send(.acknowledge(unacknowledged.sorted().compactMap { cursors[$0] }), into: &out)
      unacknowledged = []
    }
    return out.notices + requestSnapshot(out.events.count)
  }
}

extension DeviceLink.Output {
  /// A refusal is not signed, so no refusal is a response.
  fileprivate var notices: [DeviceEffect] {
    rejected.map { .notify(.eventRejected($0)) }
      + lost.map { .notify(.historyLost($0.audience, $0.seqs)) }
      + (shutOut.map { [.notify(.shutOut($0))] } ?? [])
      + refusals.map { .notify(.refused($0.command, $0.problem)) }
      + (unopened.map { [.notify(.unopened($0))] } ?? [])
  }
}
