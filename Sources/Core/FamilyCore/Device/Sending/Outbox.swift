import FamilyModel

/// The commands that the relay has not acknowledged, in order of entry.
///
/// A command is due when it enters, after each attachment, and after each time-out; its id makes
/// retries harmless. A question also needs admission before it is sent.
struct Outbox: Sendable {
  struct Pending: Hashable, Sendable {
    var position: UInt64
    var id: CommandID
    var command: Command
    /// The newest event of the family when the command entered.
    var basedOnSeq: UInt64
    /// How often the command was sent, or could not be sealed, since the last attachment.
    var attempts = 0
    /// How often an overloaded relay refused the command since the last attachment.
    var refusals = 0
    /// How often the relay accepted the command since the last attachment, without its event.
    var confirmations = 0
    var due = Instant(milliseconds: .max)
    /// When the command was first sent since the last attachment.
    var sent: Instant?
    /// The audience whose lost statement the command repeats; `nil` for a new command.
    var lostFrom: Audience?
    /// The command is not due before this time; the largest one: it is held.
    var notBefore = Instant(milliseconds: .min)
    /// How often the command was sent to the relay, less the refusals for which the relay stored
    /// nothing. Above zero the relay may have the command; so may it after a restart.
    fileprivate(set) var unrefused = 0
    /// Whether the relay cannot have the command.
    var isUnknownToRelay: Bool { unrefused <= 0 }
    /// Whether the command repeats a lost statement.
    var isGivenBack: Bool { lostFrom != nil }
    /// Whether the command waits for the end of its audience's history.
    var isHeld: Bool { notBefore.milliseconds == .max }
    /// Whether the command may be sent. Only questions need admission.
    private(set) var isAdmitted: Bool
    /// Whether the command changes a person's age settings or age answers.
    let changesAge: Bool

    init(position: UInt64, id: CommandID, command: Command, basedOnSeq: UInt64) {
      self.position = position
      self.id = id
      self.command = command
      self.basedOnSeq = basedOnSeq
      isAdmitted = !command.isQuestion
      changesAge = command.changesAge
    }

    var record: DeviceRecord {
      .outbox(position: position, id, command, basedOnSeq: basedOnSeq)
    }

    /// The conversation to which the command adds a text that the relay has not accepted; `nil` for
    /// any other command. Texts keep the order in which their author wrote them.
    var awaitedText: PersonID? {
      guard case .post(let child, _) = command, !isGivenBack, confirmations == 0 else { return nil }
      return child
    }

    mutating func restart(now: Instant) {
      (attempts, refusals, confirmations, sent) = (0, 0, 0, nil)
      due = max(now, notBefore)
    }

    mutating func admit() { isAdmitted = true }
    mutating func revokeAdmission() { isAdmitted = !command.isQuestion }
  }

  private(set) var pending: [Pending] = [] { didSet { isDeadlineKnown = false } }
  private var next: UInt64 = 1
  /// The deadline since the last change, if it is known.
  private var knownDeadline: Instant?
  private var isDeadlineKnown = true
  /// How long the relay took to accept the last command.
  private var replyTime = Milliseconds.zero
  /// The time-out of a first attempt. A relay that accepts slowly has much to do, and repetitions
  /// would give it more.
  private var firstTimeout: Milliseconds {
    min(max(Timing.firstRequestTimeout, replyTime * 2), Timing.longestRequestTimeout)
  }

  var deadline: Instant? { isDeadlineKnown ? knownDeadline : earliestDue }

  /// The deadline, which is searched once after each change.
  mutating func findDeadline() -> Instant? {
    if !isDeadlineKnown { (knownDeadline, isDeadlineKnown) = (earliestDue, true) }
    return knownDeadline
  }

  private var earliestDue: Instant? {
    var earliest: Instant?
    forEachSendable { earliest = min(earliest ?? pending[$0].due, pending[$0].due) }
    return earliest
  }

  /// Visits the commands that wait for no earlier text of their conversation, in order.
  private func forEachSendable(_ body: (Int) -> Void) {
    // A family has few children, so a search costs less than a set.
    var conversations: [PersonID] = []
    for index in pending.indices {
      if let child = pending[index].awaitedText {
        if conversations.contains(child) { continue }
        conversations.append(child)
      }
      body(index)
    }
  }

  /// The commands about ages that repeat no lost statement, in order.
  var ageChanges: [Pending] {
    pending.indices.compactMap { index in
      pending[index].changesAge && !pending[index].isGivenBack ? pending[index] : nil
    }
  }

  var isFull: Bool { newCount >= Limits.outbox }
  /// A full outbox still takes key shares: its commands may wait for them.
  var hasRoomForKeys: Bool { newCount < Limits.outbox + Limits.outboxReserve }
  /// The number of commands that repeat no lost statement.
  private var newCount: Int { pending.count { !$0.isGivenBack } }

  mutating func restore(
    _ position: UInt64, _ id: CommandID, _ command: Command, basedOnSeq: UInt64
  ) {
    var entry = Pending(position: position, id: id, command: command, basedOnSeq: basedOnSeq)
    entry.unrefused = 1
    pending.append(entry)
    pending.sort { $0.position < $1.position }
    next = max(next, position + 1)
  }

  mutating func add(_ id: CommandID, _ command: Command, basedOnSeq: UInt64 = 0) -> RecordChange {
    defer { next += 1 }
    let entry = Pending(position: next, id: id, command: command, basedOnSeq: basedOnSeq)
    pending.append(entry)
    return .put(entry.record)
  }

  mutating func remove(_ id: CommandID) -> (Pending, RecordChange)? {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return nil }
    let entry = pending.remove(at: index)
    return (entry, .delete(.outbox(position: entry.position)))
  }

  /// Records that the command was sent to the relay.
  mutating func markSent(_ id: CommandID) {
    if let index = pending.firstIndex(where: { $0.id == id }) { pending[index].unrefused += 1 }
  }

  /// Makes every command due and resets its delays.
  mutating func restart(now: Instant) {
    for index in pending.indices { pending[index].restart(now: now) }
  }

  /// Makes the commands due that the relay has not confirmed, and resets their delays.
  mutating func resume(now: Instant) {
    for index in pending.indices where pending[index].confirmations == 0 {
      pending[index].restart(now: now)
    }
  }

  /// Makes no command due, and revokes every admission, until ``restart(now:)``.
  mutating func suspend() {
    for index in pending.indices {
      pending[index].due = Instant(milliseconds: .max)
      pending[index].revokeAdmission()
    }
  }

  func isGivenBack(_ id: CommandID) -> Bool {
    pending.first { $0.id == id }?.isGivenBack ?? false
  }

  /// The held statements of the audience, in order.
  func held(of audience: Audience) -> [Pending] {
    pending.filter { $0.isHeld && $0.lostFrom == audience }
  }

  /// Marks a command as the repetition of a lost statement.
  mutating func markGivenBack(_ id: CommandID, of audience: Audience, isHeld: Bool) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    pending[index].lostFrom = audience
    pending[index].due = Instant(milliseconds: .max)
    if isHeld { pending[index].notBefore = Instant(milliseconds: .max) }
  }

  /// Makes a held statement due at this time.
  mutating func release(_ id: CommandID, at time: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    pending[index].notBefore = time
    pending[index].due = time
  }

  /// Shortens the waits of the time before the clock was set back.
  mutating func clockSetBack(now: Instant) {
    for index in pending.indices where !pending[index].isHeld {
      pending[index].notBefore = min(pending[index].notBefore, now)
    }
  }

  /// Makes a question due that awaits admission.
  mutating func admit(_ id: CommandID, now: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id && !$0.isAdmitted }) else { return }
    pending[index].admit()
    pending[index].due = now
  }

  /// Gives the command a new id and makes it due. A question also needs a new admission.
  mutating func renumber(_ id: CommandID, _ new: CommandID, now: Instant) -> RecordChange? {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return nil }
    pending[index].id = new
    pending[index].attempts = 0
    pending[index].sent = nil
    pending[index].due = now
    pending[index].revokeAdmission()
    return .put(pending[index].record)
  }

  func command(_ id: CommandID) -> Command? { pending.first { $0.id == id }?.command }

  mutating func postpone(_ id: CommandID, until: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    pending[index].due = until
    // The wait is the device's own, and no reply time of the relay.
    pending[index].sent = nil
  }

  /// Learns how long the relay took to accept a command.
  mutating func learnReplyTime(of id: CommandID, now: Instant) {
    guard let entry = pending.first(where: { $0.id == id }), entry.confirmations == 0,
      let sent = entry.sent
    else { return }
    replyTime = max(.zero, now - sent)
  }

  /// Delays a command that the relay accepted and whose event the device has not read. The delay
  /// doubles with each confirmation.
  mutating func confirm(_ id: CommandID, now: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    pending[index].due =
      now
      + Timing.backoff(
        pending[index].confirmations, Timing.longestRequestTimeout, Timing.longestGiveBackDelay)
    pending[index].confirmations += 1
  }

  /// Delays a command that an overloaded relay refused. A question also needs a new admission.
  ///
  /// The delay doubles with each refusal. Jitter derived from the command's random id adds up to
  /// the same again, so that commands refused together do not return together.
  mutating func backOff(_ id: CommandID, atLeast retryAfter: Milliseconds, now: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    let refusals = pending[index].refusals
    let first = max(Timing.firstRequestTimeout, retryAfter)
    let wait = max(Timing.backoff(refusals, first, Timing.longestRequestTimeout), retryAfter)
    var source = IDSource(seed: id.low ^ UInt64(refusals + 1))
    pending[index].refusals += 1
    pending[index].unrefused -= 1
    pending[index].sent = nil
    pending[index].revokeAdmission()
    pending[index].due = now + wait + Timing.jitter(source.next(), below: wait)
  }

  /// Returns the sendable commands that are due, in order, and schedules the next attempt of each. For a
  /// question that is not admitted, the next attempt requests admission again.
  mutating func startDueAttempts(now: Instant) -> [Pending] {
    var due: [Pending] = []
    var dueIndices: [Int] = []
    forEachSendable { if pending[$0].due <= now { dueIndices.append($0) } }
    for index in dueIndices {
      if pending[index].isAdmitted {
        let wait = Timing.backoff(
          pending[index].attempts, firstTimeout, Timing.longestRequestTimeout)
        pending[index].attempts += 1
        pending[index].sent = pending[index].sent ?? now
        pending[index].due = now + wait
      } else {
        pending[index].due = now + Timing.longestRequestTimeout
      }
      due.append(pending[index])
    }
    return due
  }
}

extension Command {
  fileprivate var isQuestion: Bool { if case .ask = self { true } else { false } }
  fileprivate var changesAge: Bool {
    switch self {
    case .noteAge, .setAge: true
    default: false
    }
  }
}
