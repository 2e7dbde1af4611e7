import FamilyModel

/// Brings a device's commands to the relay: stores them until the relay acknowledges them, requests
/// admission for questions, shares the keys that commands need, seals, signs and retries.
///
/// Commands enter by `enqueue` and leave for the relay by `sendDue`, which runs once at the end of
/// each step. The states of a command and their legal transitions:
///
/// - *Queued* → (due) *sealed*. A question that is not admitted → *awaiting admission* instead.
/// - *Awaiting admission* → (``admit(_:now:)``) *queued*.
/// - *Sealed* → (signed and sent) *in flight*.
/// - *Sealed* → (a key or a part of the log is missing) *blocked*.
/// - *Sealed* → (its question stays unknown, or this device may not read its audience, or can make
///   no key for it) *removed*.
/// - *Blocked* → (``resume(now:)``, or time-out) *queued*.
/// - *In flight* → (accepted) *confirmed*; → (its event is read, or it is refused) *removed*.
/// - *Confirmed* → (30 s, doubling to 1 h) *in flight*.
/// - *In flight* → (the id is taken, or ahead of the relay's clock) *queued* under a new id.
/// - *In flight* → (time-out) *queued*; → (overloaded) *queued*, delayed and without admission.
/// - *Queued*, *awaiting admission*, *blocked* → (its question is cancelled before the relay can have
///   it) *removed*.
/// - Every state but *removed* → (``suspend()``) *suspended* → (``restart(now:)``) *queued*.
///
/// A command that lacks a key is *blocked* behind a key share: a second command that holds the key
/// for each reader. Key shares have no content, so they never lack a key themselves.
struct CommandSender: Sendable {
  /// Attempts, with growing delays, to send a command about an unknown question before it fails.
  static let attemptsForQuestion = 6
  let address: DeviceAddress
  let person: PersonID
  private(set) var outbox = Outbox()
  var ids: CommandIDSource
  /// Whether a command waits for a key share or for the family's log.
  private var isBlocked = false
  private var lastRequestID: UInt64 = 0
  /// The number of lost statements that the relay has accepted again.
  private(set) var givenBack = 0
  /// When this device noticed that another one lacks keys.
  var newcomersSince: Instant?
  /// When this device checks, or shares, the keys that other devices lack.
  var newcomersDue: Instant?
  /// The keys that this device lacks, each with its complaints so far and the time of the next one.
  var missingKeys: [MissingKey: (complaints: Int, due: Instant)] = [:]
  /// When this device checks, or complains about, the keys that it lacks.
  var complaintsDue: Instant?

  init(_ address: DeviceAddress, of person: PersonID, ids: IDSource) {
    self.address = address
    self.person = person
    self.ids = CommandIDSource(ids)
  }

  mutating func nextID(now: Instant) -> CommandID { ids.next(now: now) }
  mutating func randomBits() -> UInt64 { ids.bits() }
  /// Learns the relay's present time; a reply without a time teaches nothing.
  mutating func learn(relayTime: Instant?, now: Instant) {
    guard let relayTime, relayTime.milliseconds > 0 else { return }
    ids.learn(relayTime: relayTime, now: now)
  }

  /// Observes a verified event: see ``CommandIDSource``.
  mutating func observe(_ event: Event) {
    ids.observe(relayTime: event.at)
    guard event.signature != nil else { return }
    if event.device == address.device {
      ids.observeOwn(event.command)
    } else if event.body.isOrderedByTime {
      ids.observe(event.command)
    }
  }

  // MARK: the states of a command

  /// Stores a command.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - id: The command's id.
  ///   - due: When to send it; `nil`: after the next attachment.
  ///   - basedOnSeq: The newest event of the family that the device knows.
  ///   - out: Receives the change of the outbox.
  /// - Throws: `tooMany` if the outbox is full.
  mutating func enqueue(
    _ command: Command, id: CommandID, due: Instant?, basedOnSeq: UInt64,
    into out: inout DeviceLink.Output
  ) throws(Problem) {
    guard !outbox.isFull else { throw .tooMany }
    store(command, id: id, due: due, basedOnSeq: basedOnSeq, into: &out)
  }

  /// Stores a command in the outbox. Precondition: the outbox has room for it.
  mutating func store(
    _ command: Command, id: CommandID, due: Instant?, basedOnSeq: UInt64,
    into out: inout DeviceLink.Output
  ) {
    out.changes.append(outbox.add(id, command, basedOnSeq: basedOnSeq))
    if let due { outbox.postpone(id, until: due) }
  }

  /// Stores a lost statement in the outbox, in the place of an earlier repetition. The statement is
  /// held until its release.
  mutating func hold(
    _ command: Command, id: CommandID, of audience: Audience, basedOnSeq: UInt64,
    into out: inout DeviceLink.Output
  ) {
    discard(id, into: &out)
    store(command, id: id, due: nil, basedOnSeq: basedOnSeq, into: &out)
    outbox.markGivenBack(id, of: audience, isHeld: true)
  }

  /// Removes a command without an outcome.
  mutating func discard(_ id: CommandID, into out: inout DeviceLink.Output) {
    if let (_, change) = outbox.remove(id) { out.changes.append(change) }
  }

  /// Makes held statements due at this time.
  mutating func release(_ ids: [CommandID], at time: Instant) {
    for id in ids { outbox.release(id, at: time) }
  }

  /// Marks a restored command as the repetition of a lost statement.
  mutating func markGivenBack(_ id: CommandID, of audience: Audience, isHeld: Bool) {
    outbox.markGivenBack(id, of: audience, isHeld: isHeld)
  }

  mutating func restore(
    _ position: UInt64, _ id: CommandID, _ command: Command, basedOnSeq: UInt64
  ) {
    outbox.restore(position, id, command, basedOnSeq: basedOnSeq)
  }

  /// Admits a question. Has no effect on a question that has left the outbox.
  mutating func admit(_ id: CommandID, now: Instant) { outbox.admit(id, now: now) }

  /// Makes the blocked commands due, because a key or a part of the log has arrived.
  mutating func resume(now: Instant) {
    guard isBlocked else { return }
    isBlocked = false
    outbox.resume(now: now)
  }

  /// When the first command is due.
  mutating func findDeadline() -> Instant? { outbox.findDeadline() }

  /// Makes every command due, as after an attachment.
  mutating func restart(now: Instant) { outbox.restart(now: now) }

  /// Sends nothing until ``restart(now:)``.
  mutating func suspend() { outbox.suspend() }

  mutating func clockSetBack(now: Instant) {
    ids.clockSetBack()
    outbox.clockSetBack(now: now)
    newcomersSince = newcomersSince.map { min($0, now) }
    newcomersDue = newcomersDue.map { min($0, now) }
    complaintsDue = complaintsDue.map { min($0, now) }
    missingKeys = missingKeys.mapValues { ($0.complaints, min($0.due, now)) }
  }

  /// Schedules a retry if the refusal is temporary.
  ///
  /// - Returns: `false` if the refusal is final.
  mutating func retry(
    _ id: CommandID, after problem: Problem, now: Instant, into out: inout DeviceLink.Output
  ) -> Bool {
    // A lost statement keeps its id, by which its readers know it.
    let isGivenBack = outbox.isGivenBack(id)
    if isGivenBack, problem == .idTaken { return false }
    if isGivenBack, problem.isEarlyID {
      awaitClock(id, problem, now: now)
    } else if problem == .idTaken || problem.isEarlyID {
      learn(relayTime: problem.relayTime, now: now)
      return renumber(id, after: problem, now: now, into: &out)
    } else if problem.code >= Problem.overloaded.code {
      outbox.backOff(id, atLeast: problem.retryAfter, now: now)
    } else if problem == .forked {
      // The delay grows: a dishonest relay may refuse in every history.
      outbox.backOff(id, atLeast: .zero, now: now)
    } else if problem == .stale {
      // The command is sealed and signed again, based on the history of that moment.
      outbox.postpone(id, until: now + Timing.firstRequestTimeout)
    } else {
      return false
    }
    return true
  }

  /// Sends the command again under a new id.
  ///
  /// - Returns: `false` for a command whose content depends on the id.
  private mutating func renumber(
    _ id: CommandID, after problem: Problem, now: Instant, into out: inout DeviceLink.Output
  ) -> Bool {
    guard let command = outbox.command(id), !command.dependsOnID else { return false }
    let new = nextID(now: now)
    if let change = outbox.renumber(id, new, now: now) { out.changes.append(change) }
    // The relay's clock may be behind the family's statements, and refuse the new id, too.
    if problem.isEarlyID { awaitClock(new, problem, now: now) }
    return true
  }

  /// Postpones a command that the relay has accepted, until the device has read its event. A relay that
  /// has lost the event receives the command again.
  ///
  /// - Returns: `false` for the repetition of a lost statement, which needs no event.
  mutating func awaitEvent(of id: CommandID, now: Instant) -> Bool {
    guard !outbox.isGivenBack(id) else { return false }
    outbox.learnReplyTime(of: id, now: now)
    outbox.confirm(id, now: now)
    return true
  }

  /// Learns how long the relay took to accept a command. Later commands wait about as long.
  mutating func learnReplyTime(of id: CommandID, now: Instant) {
    outbox.learnReplyTime(of: id, now: now)
  }

  /// Postpones a command until the relay's clock permits its id.
  private mutating func awaitClock(_ id: CommandID, _ refusal: Problem, now: Instant) {
    guard let relayTime = refusal.relayTime else {
      return outbox.backOff(id, atLeast: .zero, now: now)
    }
    let wait = id.time - (relayTime + Limits.idLead)
    guard wait > .zero else { return }
    outbox.postpone(
      id, until: now + min(max(wait, Timing.firstRequestTimeout), Timing.longestClockWait))
  }

  /// Removes a command that was accepted (`problem` is `nil`) or failed, and reports its outcome.
  ///
  /// - Returns: Whether the relay has keys now that blocked commands may wait for.
  mutating func complete(
    _ id: CommandID, _ problem: Problem?, verifier: inout EventVerifier?,
    into out: inout DeviceLink.Output
  ) -> Bool {
    guard let (pending, change) = outbox.remove(id) else { return false }
    let command = pending.command
    out.changes.append(change)
    if pending.isGivenBack, !pending.isHeld, problem == nil { givenBack += 1 }
    // A complaint is no act of the device's owner.
    if case .complain = command { return false }
    guard case .shareKeys(let audience, let wraps) = command else {
      // The relay may have lost a question for good.
      if let problem, !pending.isGivenBack || problem != .unknown {
        out.refusals.append((command, problem))
      }
      return false
    }
    guard problem == nil else {
      // The blocked commands retry after their time-outs: an immediate retry could be endless.
      verifier?.ring.drop(wraps, audience)
      return false
    }
    verifier?.keep(wraps, audience, isShared: true)
    return true
  }

  // MARK: sending

  /// Sends the commands that are due: the only way from the outbox to the relay.
  ///
  /// A question requests admission first. Until then it costs no seal, no signature and no key.
  ///
  /// - Parameter isBehind: Whether the device still lacks events of the family's log.
  mutating func sendDue(
    now: Instant, family: FamilyProjection, verifier: inout EventVerifier?, isBehind: Bool,
    into out: inout DeviceLink.Output
  ) {
    for pending in outbox.startDueAttempts(now: now) {
      guard pending.isAdmitted else {
        out.sends.append(.requestAdmission(pending.id))
        continue
      }
      switch seal(
        pending.command, id: pending.id, basedOnSeq: pending.basedOnSeq, family: family,
        verifier: verifier, isBehind: isBehind,
        // A proof covers the sealed bytes.
        at: pending.command.dependsOnID ? nil : ids.relayTime(now: now))
      {
      case .sealed(let signed): send(signed, attempt: pending.attempts, into: &out)
      case .blocked: isBlocked = true
      case .unknownQuestion
      where pending.attempts < Self.attemptsForQuestion || outbox.asksQuestion(of: pending.command):
        isBlocked = true
      case .unknownQuestion: fail(pending.id, .unknown, verifier: &verifier, into: &out)
      case .invalid(let problem): fail(pending.id, problem, verifier: &verifier, into: &out)
      case .lacksKey(let audience, let readers):
        do throws(Problem) {
          try shareNewKey(
            audience, readers, now: now, family: family, verifier: &verifier, into: &out)
          isBlocked = true
        } catch { fail(pending.id, error, verifier: &verifier, into: &out) }
      }
    }
  }

  /// Shares a key with the readers of an audience, unless the outbox is full: a key about which
  /// some complained, or a new one.
  ///
  /// - Throws: `notPermitted`, `tooManyKeys` or `weakKey`.
  mutating func shareNewKey(
    _ audience: Audience, _ readers: [Device], now: Instant, family: FamilyProjection,
    verifier: inout EventVerifier?, into out: inout DeviceLink.Output
  ) throws(Problem) {
    // Other devices reject a key share of a device that is no reader, so waiting is futile.
    guard family.mayRead(audience, address.device) else { throw .notPermitted }
    let own = verifier?.vault.agreementKey
    guard outbox.hasRoomForKeys, readers.contains(where: { $0.agreementKey == own }) else { return }
    if let wraps = verifier?.wrapsToRepair(audience, readers) {
      share(wraps, audience, now: now, verifier: verifier, into: &out)
      verifier?.keep(wraps, audience, isShared: false)
    } else if let wraps = try verifier?.makeKey(
      audience, for: readers, by: address.device, at: ids.newestEvent)
    {
      share(wraps, audience, now: now, verifier: verifier, into: &out)
    }
  }

  /// Seals and signs a command for a caller that sends it without the outbox.
  ///
  /// - Returns: The key shares that its readers need, then the command.
  /// - Throws: `stale` if this device does not know the family well enough, or `unknown` if it does
  ///   not know the question. Also `notPermitted`, `tooManyKeys` or `weakKey`: no key can be made.
  mutating func prepare(
    _ command: Command, id: CommandID?, now: Instant, family: FamilyProjection,
    verifier: inout EventVerifier?, isBehind: Bool
  ) throws(Problem) -> [SignedCommand] {
    var prepared: [SignedCommand] = []
    let id = id ?? nextID(now: now)
    // The first pass shares a key if the readers have none in common; the second one seals.
    for _ in 1...2 {
      switch seal(
        command, id: id, family: family, verifier: verifier, isBehind: isBehind,
        at: ids.relayTime(now: now))
      {
      case .sealed(let signed): return prepared + [signed]
      case .blocked: throw .stale
      case .unknownQuestion: throw .unknown
      case .lacksKey(let audience, let readers):
        guard family.mayRead(audience, address.device) else { throw .notPermitted }
        var shared = verifier?.wrapsToRepair(audience, readers)
        if shared == nil {
          shared = try verifier?.makeKey(
            audience, for: readers, by: address.device, at: ids.newestEvent)
        }
        guard let wraps = shared, !wraps.isEmpty else { throw .stale }
        prepared.append(sign(wraps, id: nextID(now: now), audience, verifier: verifier))
        verifier?.keep(wraps, audience, isShared: true)
      case .invalid(let problem): throw problem
      }
    }
    throw .stale
  }

  /// Sends a request that the relay answers.
  ///
  /// - Returns: The number that the reply will carry.
  @discardableResult
  mutating func send(_ request: Request, into out: inout DeviceLink.Output) -> UInt64 {
    lastRequestID += 1
    out.sends.append(.send(lastRequestID, request))
    return lastRequestID
  }

  /// The device's own broadcast acknowledges its command, so the first attempt requests no reply:
  /// its request number is zero. Retries carry a number and are answered.
  private mutating func send(
    _ signed: SignedCommand, attempt: Int, into out: inout DeviceLink.Output
  ) {
    let request = Request.command(signed.id, signed.command, signed.signature)
    outbox.markSent(signed.id)
    if attempt > 1 {
      send(request, into: &out)
    } else {
      out.sends.append(.send(0, request))
    }
  }

  /// Removes a command that cannot be sent. Its failure resumes no other command.
  private mutating func fail(
    _ id: CommandID, _ problem: Problem, verifier: inout EventVerifier?,
    into out: inout DeviceLink.Output
  ) {
    _ = complete(id, problem, verifier: &verifier, into: &out)
  }

  /// Enqueues a key share and sends it at once, because commands are blocked behind it.
  ///
  /// Precondition: the outbox has room for keys.
  mutating func share(
    _ wraps: [KeyWrap], _ audience: Audience, now: Instant, verifier: EventVerifier?,
    into out: inout DeviceLink.Output
  ) {
    guard !wraps.isEmpty else { return }
    let signed = sign(wraps, id: nextID(now: now), audience, verifier: verifier)
    out.changes.append(outbox.add(signed.id, signed.command))
    outbox.postpone(signed.id, until: now + Timing.firstRequestTimeout)
    send(.command(signed.id, signed.command, signed.signature), into: &out)
  }
}
