import FamilyModel

/// The commands that the relay has not acknowledged, in the order in which they were given.
///
/// A command is sent when it enters, again after each reattachment, and again when its wait is over;
/// its id makes the repetition harmless. A question waits for its turn before, as long as there are many.
struct Outbox: Sendable {
  struct Pending: Hashable, Sendable {
    var position: UInt64
    var id: CommandID
    var command: Command
    var attempts = 0
    var refusals = 0
    var due = Instant(milliseconds: .max)
    /// Whether it may go; a question may once it has its turn.
    var hasTurn = false

    var mayGo: Bool { if case .ask = command { hasTurn } else { true } }
  }

  private(set) var pending: [Pending] = []
  private var next: UInt64 = 1

  var deadline: Instant? { pending.lazy.map(\.due).min() }
  var isFull: Bool { pending.count >= Limits.outbox }

  mutating func restore(_ position: UInt64, _ id: CommandID, _ command: Command) {
    pending.append(Pending(position: position, id: id, command: command))
    pending.sort { $0.position < $1.position }
    next = max(next, position + 1)
  }

  mutating func add(_ id: CommandID, _ command: Command) -> RecordChange {
    defer { next += 1 }
    pending.append(Pending(position: next, id: id, command: command))
    return .put(.outbox(position: next, id, command))
  }

  mutating func remove(_ id: CommandID) -> (Command, RecordChange)? {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return nil }
    let entry = pending.remove(at: index)
    return (entry.command, .delete(.outbox(position: entry.position)))
  }

  /// Makes everything due at once, as after a reattachment.
  mutating func restart(_ now: Instant) {
    for index in pending.indices {
      pending[index].attempts = 0
      pending[index].refusals = 0
      pending[index].due = now
    }
  }

  /// Nothing is sent while there is no connection.
  mutating func suspend() {
    for index in pending.indices {
      pending[index].due = Instant(milliseconds: .max)
      pending[index].hasTurn = false
    }
  }

  /// It is the question's turn.
  mutating func giveTurn(_ id: CommandID, now: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id && !$0.mayGo }) else { return }
    pending[index].hasTurn = true
    pending[index].due = now
  }

  mutating func postpone(_ id: CommandID, until: Instant) {
    if let index = pending.firstIndex(where: { $0.id == id }) { pending[index].due = until }
  }

  /// The relay has too much to do. Who was refused together must not come back together: the wait grows with
  /// each refusal, not with repetitions, and is up to twice as long by a part that the command's id, which is
  /// random, decides. A question needs another turn.
  mutating func backOff(_ id: CommandID, atLeast retryAfter: UInt32, now: Instant) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
    let refusals = pending[index].refusals
    let first = max(Timing.requestFirst, Int64(retryAfter))
    let wait = max(Timing.backoff(refusals, first, Timing.requestMost), Int64(retryAfter))
    var source = IDSource(seed: id.low ^ UInt64(refusals + 1))
    pending[index].refusals += 1
    pending[index].hasTurn = false
    pending[index].due = now + wait + Int64(source.next() % UInt64(wait))
  }

  /// Takes what is due, in order, and sets when each is due again; of what may not go yet, this is when it
  /// asks for its turn again.
  mutating func takeDue(_ now: Instant) -> [Pending] {
    var due: [Pending] = []
    for index in pending.indices where pending[index].due <= now {
      if pending[index].mayGo {
        let wait = Timing.backoff(
          pending[index].attempts, Timing.requestFirst, Timing.requestMost)
        pending[index].attempts += 1
        pending[index].due = now + wait
      } else {
        pending[index].due = now + Timing.requestMost
      }
      due.append(pending[index])
    }
    return due
  }
}
