import DequeModule
package import FamilyModel
package import ZeroMQ

/// The bound on the questions that one connection has in flight, and the retry interval of its
/// commands.
///
/// An AIMD window, as in TCP: slow start until the first refusal, then additive increase, halved by
/// each refusal. Questions outside the window wait in their device, in order, unsealed and
/// unsigned. Other commands are always admitted, because they end questions.
package struct QuestionWindow<Item> {
  /// Questions in flight, initially and at most.
  package static var window: (initial: Double, maximum: Double) { (256, 4_096) }
  /// Questions that wait for admission. At the limit ``enqueue(_:_:)`` fails, and the device tries
  /// again.
  package static var queueLimit: Int { 16_384 }
  /// Commands whose replies are awaited. At the limit all are forgotten, and their repetitions are
  /// sent.
  private static var trackedCommands: Int { 65_536 }
  /// The time between two transmissions of a command: four average reply times, within this
  /// range.
  private static var retryInterval: ClosedRange<Nanoseconds> { .seconds(1) ... .seconds(16) }
  /// The time after which a question without a reply leaves the window. Its device may have been
  /// removed.
  private static var abandonedAfter: Nanoseconds { .seconds(60) }
  /// The time between two searches for abandoned questions.
  private static var sweepInterval: Nanoseconds { .seconds(1) }

  private struct TrackedCommand {
    /// When the command was last sent, or the question was admitted.
    var at: MonotonicInstant
    var isQuestion: Bool
    /// False between the admission of a question and its transmission.
    var isInFlight = true
  }

  private var window = Self.window.initial
  private var tracked: [CommandID: TrackedCommand] = [:]
  /// The questions among the tracked commands.
  private var questionCount = 0
  private var queue: Deque<(id: CommandID, item: Item)> = []
  private var queuedIDs: Set<CommandID> = []
  /// The moving average of reply times.
  private var averageReplyTime = Nanoseconds.zero
  /// When the window was last halved; `nil` during slow start.
  private var halvedAt: MonotonicInstant?
  private var sweptAt = MonotonicInstant.machineStart

  /// The window of a new connection.
  package init() {}

  /// Questions that wait for admission.
  package var waitingCount: Int { queuedIDs.count }
  /// Whether a question waits and the window has room for it.
  package var canAdmit: Bool { !queue.isEmpty && questionCount < Int(window) }

  private var retryInterval: Nanoseconds {
    min(max(averageReplyTime * 4, Self.retryInterval.lowerBound), Self.retryInterval.upperBound)
  }

  /// Enqueues a question that requests admission, and revokes its earlier admission.
  ///
  /// - Returns: `false` if the queue is full.
  @discardableResult
  package mutating func enqueue(_ id: CommandID, _ item: Item) -> Bool {
    forget(id)
    guard !queuedIDs.contains(id) else { return true }
    guard queuedIDs.count < Self.queueLimit else { return false }
    queuedIDs.insert(id)
    queue.append((id, item))
    return true
  }

  /// Admits the next question, which occupies the window until a reply arrives or the question is
  /// released.
  package mutating func admit(now: MonotonicInstant) -> (id: CommandID, item: Item)? {
    removeAbandoned(now: now)
    guard canAdmit, let entry = queue.popFirst() else { return nil }
    queuedIDs.remove(entry.id)
    track(entry.id, TrackedCommand(at: now, isQuestion: true, isInFlight: false))
    return entry
  }

  /// Frees the room of an admitted question that its device did not send.
  package mutating func release(_ id: CommandID) {
    if tracked[id]?.isInFlight == false { forget(id) }
  }

  @discardableResult
  private mutating func forget(_ id: CommandID) -> TrackedCommand? {
    let command = tracked.removeValue(forKey: id)
    if command?.isQuestion ?? false { questionCount -= 1 }
    return command
  }

  /// Removes abandoned questions from a full window, at most once per ``sweepInterval``.
  private mutating func removeAbandoned(now: MonotonicInstant) {
    guard !queue.isEmpty, !canAdmit, now >= sweptAt + Self.sweepInterval else { return }
    sweptAt = now
    for (id, command) in tracked
    where command.isQuestion && now >= command.at + Self.abandonedAfter {
      forget(id)
    }
  }

  /// Whether to send the command now, and not wait for the reply to its last transmission.
  package mutating func maySend(_ id: CommandID, now: MonotonicInstant) -> Bool {
    guard let command = tracked[id] else {
      track(id, TrackedCommand(at: now, isQuestion: false))
      return true
    }
    if command.isInFlight, now < command.at + retryInterval { return false }
    tracked[id]!.at = now
    tracked[id]!.isInFlight = true
    return true
  }

  private mutating func track(_ id: CommandID, _ command: TrackedCommand) {
    if tracked.count >= Self.trackedCommands {
      tracked.removeAll(keepingCapacity: true)
      questionCount = 0
    }
    tracked[id] = command
    if command.isQuestion { questionCount += 1 }
  }

  /// Records the relay's reply to a command, and adjusts the window after a question.
  ///
  /// - Parameter wasOverloaded: Whether the relay refused the command because of overload.
  package mutating func answered(_ id: CommandID, wasOverloaded: Bool, now: MonotonicInstant) {
    guard let command = forget(id), command.isInFlight else { return }
    let duration = now - command.at
    averageReplyTime =
      averageReplyTime == .zero ? duration : averageReplyTime - averageReplyTime / 8 + duration / 8
    guard command.isQuestion else { return }
    if !wasOverloaded {
      window = min(window + (halvedAt == nil ? 1 : 1 / window), Self.window.maximum)
    } else if halvedAt.map({ command.at >= $0 }) ?? true {
      // Refusals of questions sent before the last halving belong to the same overload.
      halvedAt = now
      window = max(1, window / 2)
    }
  }

  /// Forgets all commands after the connection is lost, because devices resend their commands. The
  /// size of the window stays.
  package mutating func restart() {
    (tracked, questionCount, queue, queuedIDs) = ([:], 0, [], [])
  }
}
