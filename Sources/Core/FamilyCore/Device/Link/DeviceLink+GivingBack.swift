import FamilyModel

/// Giving a relay back what it lost: each device states its own lost statements again.
///
/// A statement keeps its id. The relay and the readers therefore count it once, and its time stays
/// that of the person's act. The outbox is durable before the first event of the other history is.
///
/// - *Stored* → (the cursor moves back behind the statement) *held* in the outbox.
/// - *Held* → (its event is read again) removed.
/// - *Held* → (the history is read to its end) *queued*, or removed if it is no longer in force.
///
/// A roster is not repeated. Each guardian's device states the present roster, one after the other,
/// until the relay has one that removes nobody less.
extension DeviceLink {
  /// Keeps what the history after the cursor had. The cursor has moved back.
  mutating func keepLost(_ audience: Audience, into out: inout Output) {
    let head = delivered(audience)
    hearing.named[audience] = nil
    if audience == .family {
      verifier!.rewind(to: head)
      out.hasMovedRosters = true
    }
    out.changes += kept.lose(audience, after: head)
    if let child = audience.conversationChild {
      for (id, state) in family.conversations[child]?.questions.all ?? [:]
      where (questionSeqs[id] ?? state.seq) > head {
        questionSeqs[id] = .max
      }
    }
    for lost in statements.lose(audience, after: head) {
      sender.hold(
        lost.command, id: lost.id, of: audience, basedOnSeq: verifier!.familySeq, into: &out)
    }
  }

  /// Records that an event of a known command is in the present history.
  mutating func found(_ event: Event, into out: inout Output) {
    guard verifier?.hasRead(event) ?? false else { return }
    if event.commandName?.device == address.device {
      statements.found(event.command, at: event.seq)
      // A dishonest relay may have refused the share.
      if case .keysShared(let wraps) = event.body {
        verifier?.keep(
          wraps, event.audience, isShared: true, basedOnSeq: event.signature?.basedOnSeq)
      }
    }
    if let change = kept.found(event) { out.changes.append(change) }
    guard event.isRoster else { return }
    verifier?.foundRoster(event)
    out.hasMovedRosters = true
  }

  /// The device has read the audience to the end of the relay's history: sends what is missing.
  ///
  /// A relay that shows a new history again and again makes the device wait longer each time.
  mutating func giveBack(_ audience: Audience, now: Instant, into out: inout Output) {
    rereads[audience] = nil
    reportLost(audience, into: &out)
    let held = sender.outbox.held(of: audience)
    for pending in held where !isInForce(pending.command, now: now) {
      statements.remove(pending.id)
      sender.discard(pending.id, into: &out)
    }
    let ready = held.filter { !isAbsent($0.command.answered) }.map(\.id)
    if !ready.isEmpty {
      let (count, last) = givingBacks[audience] ?? (0, now)
      let isQuiet = now - last > Timing.longestGiveBackDelay * 2
      let round = isQuiet ? 0 : count
      let wait: Milliseconds =
        round == 0
        ? .zero : Timing.backoff(round - 1, Timing.giveBackDelay, Timing.longestGiveBackDelay)
      givingBacks[audience] = (round + 1, now)
      sender.release(ready, at: now + wait)
    }
    if audience == .family { scheduleRoster(now: now) }
  }

  /// A question is in the present history: the device can repeat its answer, at the end of the
  /// history if the device is still reading it.
  mutating func foundQuestion(_ event: Event, now: Instant) {
    guard let id = event.body.newQuestion?.id, questionSeqs[id] != nil else { return }
    questionSeqs[id] = event.seq
    let ready = sender.outbox.pending.filter { $0.isHeld && $0.command.answered == id }.map(\.id)
    for answer in ready { sender.markGivenBack(answer, of: event.audience, isHeld: true) }
    guard rereads[event.audience] == nil, fetching[event.audience] == nil else { return }
    sender.release(ready, at: now)
  }

  /// Whether the relay has lost the question.
  private func isAbsent(_ question: QuestionID?) -> Bool {
    question.flatMap { questionSeqs[$0] } == UInt64.max
  }

  // MARK: after a restart

  /// Applies the copy of a lost event.
  mutating func restore(_ event: Event, after seq: UInt64, into out: inout Output) {
    guard verifier != nil, !verifier!.holds(event) else { return }
    kept.add(event, lostAfter: seq)
    let counted = verifier!.restore(event, after: seq)
    sender.observe(counted)
    family.apply(counted)
    out.events.append(counted)
  }

  /// Sorts the copies of lost events, and moves each behind what its signer knew of the present
  /// history. The relay's history up to there is the one in which the event was verified. A roster
  /// moves behind the one that it changes.
  ///
  /// - Parameter events: The stored events of all histories.
  mutating func place(_ lost: inout [(event: Event, after: UInt64)], among events: [Event]) {
    guard let verifier, !lost.isEmpty else { return }
    lost.sort { $0.event.seq < $1.event.seq }
    var last: [Audience: UInt64] = [:]
    var rosters: [ChainHash: UInt64] = [:]
    for event in events where event.isRoster && verifier.hasRead(event) {
      rosters[verifier.rosterDigest(of: event)] = event.seq
    }
    for index in lost.indices {
      let (event, after) = lost[index]
      let known = event.signature.map { event.isRoster ? $0.known.family : $0.known.audience }
      let isPresent = known.map { verifier.relation(of: $0, event.audience) == .known } ?? false
      let former = event.signature.flatMap { rosters[$0.known.roster] }
      let place = max(
        last[event.audience] ?? 0, after, isPresent ? known?.seq ?? 0 : 0, former ?? 0)
      (lost[index].after, last[event.audience]) = (place, place)
      if event.isRoster { rosters[verifier.rosterDigest(of: event)] = place }
    }
    lost.sort { ($0.after, $0.event.seq) < ($1.after, $1.event.seq) }
  }

  /// Finds the lost statements in the restored outbox: the device has, or had, their events. The
  /// answer to a question that the relay has lost waits for the question.
  ///
  /// - Parameter events: The stored events of all histories.
  mutating func markGivenBack(_ events: [Event]) {
    guard let verifier, !sender.outbox.pending.isEmpty else { return }
    let present = Set(events.lazy.filter(verifier.hasRead).compactMap(\.body.newQuestion?.id))
    for pending in sender.outbox.pending {
      if let id = pending.command.answered, !present.contains(id), !isCovered(id) {
        questionSeqs[id] = .max
        // The event of the question may be overwritten, so that its conversation is unknown.
        sender.markGivenBack(
          pending.id, of: statements.audience(of: pending.id) ?? .family, isHeld: true)
      } else if let audience = statements.audience(of: pending.id) {
        sender.markGivenBack(pending.id, of: audience, isHeld: false)
      }
      statements.lose(pending.id)
    }
  }

  /// Whether the snapshot covers the question's event.
  private func isCovered(_ id: QuestionID) -> Bool {
    guard let coverage, !hasIgnoredSnapshot, let state = family.question(id) else { return false }
    return coverage.covers(.conversation(state.header.child), state.seq)
  }

  // MARK: rosters

  /// Schedules the statement of the present roster. The guardians' devices take turns.
  private mutating func scheduleRoster(now: Instant) {
    guard verifier?.isRosterLost ?? false, rosterDue == nil else { return }
    guard let turn = guardiansDevices.firstIndex(where: { $0.id == address.device }) else { return }
    rosterDue = now + Timing.keyShareTurn * turn
  }

  /// States the present roster if the relay still has another one.
  mutating func giveRosterBack(now: Instant, into out: inout Output) {
    guard verifier?.isRosterLost ?? false else {
      rosterDue = nil
      rosterRounds = 0
      if let rosterStatement { sender.discard(rosterStatement, into: &out) }
      rosterStatement = nil
      return
    }
    guard let due = rosterDue, due <= now, mayShareKeys else { return }
    rosterDue =
      now + Timing.backoff(rosterRounds, Timing.giveBackDelay, Timing.longestGiveBackDelay)
    rosterRounds += 1
    let waits = pendingCommands.contains { if case .setRoster = $0 { true } else { false } }
    guard !waits else { return }
    let id = nextID(now: now)
    sender.store(
      .setRoster(roster), id: id, due: now, basedOnSeq: verifier?.familySeq ?? 0, into: &out)
    rosterStatement = id
  }
}

extension Command {
  /// The question that the command answers.
  fileprivate var answered: QuestionID? { if case .answer(let id, _) = self { id } else { nil } }
}
