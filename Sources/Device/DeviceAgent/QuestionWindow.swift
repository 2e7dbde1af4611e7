import DequeModule
package import FamilyModel

/// Keeps one connection from burying a relay that has too much to do: it bounds the questions on their way,
/// and commands are not sent again while their answer can still be expected.
///
/// The window for questions grows by one for each that the relay takes, until it refuses one as too many;
/// from then on by one for each windowful, and each refusal halves it; what finds no room waits in its device,
/// neither sealed nor signed, stands here in order, and has its turn when others were answered.
/// Other commands are never held back: they end what is under way. Moments are nanoseconds of `Monotonic`.
package struct QuestionWindow<Item> {
  /// Questions on their way: at first, at most.
  package static var window: (first: Double, most: Double) { (256, 4_096) }
  /// Questions that stand in line; those beyond try again.
  package static var waitingMost: Int { 16_384 }
  /// Commands on their way that are remembered; of those beyond, repetitions are not noticed.
  private static var rememberedMost: Int { 65_536 }
  /// The shortest and the longest time for which an answer is expected: four times the usual one.
  private static var patience: ClosedRange<UInt64> { 1_000_000_000...16_000_000_000 }

  /// A question that was not answered for so long takes up no room any more: its device may have been removed.
  private static var forgottenAfter: UInt64 { 60_000_000_000 }

  private struct Sent {
    /// When the command was last sent, or the question was admitted.
    var at: UInt64
    var isQuestion: Bool
    /// A question has its turn before, as while the relay is given its key.
    var isOnItsWay = true
  }

  private var window = Self.window.first
  private var sent: [CommandID: Sent] = [:]
  private var questions = 0
  private var waiting: Deque<(id: CommandID, item: Item)> = []
  private var held: Set<CommandID> = []
  /// How long an answer takes usually.
  private var usual: UInt64 = 0
  private var halved: UInt64 = 0
  /// When those were looked for that take up room for nothing.
  private var swept: UInt64 = 0

  /// A connection on which nothing was sent.
  package init() {}

  /// Questions that wait for admission.
  package var waitingCount: Int { held.count }
  /// Whether a question waits and the window has room for it.
  package var canAdmit: Bool { !waiting.isEmpty && questions < Int(window) }

  private var patience: UInt64 {
    min(max(4 * usual, Self.patience.lowerBound), Self.patience.upperBound)
  }

  /// Enqueues a question that requests admission, and revokes its earlier admission.
  ///
  /// - Returns: `false` if the queue is full.
  @discardableResult
  package mutating func enqueue(_ id: CommandID, _ item: Item) -> Bool {
    forget(id)
    guard !held.contains(id) else { return true }
    guard held.count < Self.waitingMost else { return false }
    held.insert(id)
    waiting.append((id, item))
    return true
  }

  /// Admits the next question. It occupies the window until it is answered or released.
  package mutating func admit(_ now: UInt64) -> (id: CommandID, item: Item)? {
    sweep(now)
    guard canAdmit, let entry = waiting.popFirst() else { return nil }
    held.remove(entry.id)
    note(entry.id, Sent(at: now, isQuestion: true, isOnItsWay: false))
    return entry
  }

  /// Frees the room of an admitted question that its device did not send.
  package mutating func release(_ id: CommandID) {
    if sent[id]?.isOnItsWay == false { forget(id) }
  }

  @discardableResult
  private mutating func forget(_ id: CommandID) -> Sent? {
    let known = sent.removeValue(forKey: id)
    if known?.isQuestion ?? false { questions -= 1 }
    return known
  }

  /// Makes room where there is none, at most once a second.
  private mutating func sweep(_ now: UInt64) {
    guard !waiting.isEmpty, !canAdmit, now >= swept + 1_000_000_000 else { return }
    swept = now
    for (id, known) in sent where known.isQuestion && now >= known.at + Self.forgottenAfter {
      forget(id)
    }
  }

  /// Whether the command is to be sent now, and not while the answer to it is on its way.
  package mutating func maySend(_ id: CommandID, _ now: UInt64) -> Bool {
    guard let known = sent[id] else {
      note(id, Sent(at: now, isQuestion: false))
      return true
    }
    if known.isOnItsWay, now < known.at + patience { return false }
    sent[id]!.at = now
    sent[id]!.isOnItsWay = true
    return true
  }

  private mutating func note(_ id: CommandID, _ command: Sent) {
    if sent.count >= Self.rememberedMost {
      sent.removeAll(keepingCapacity: true)
      questions = 0
    }
    sent[id] = command
    if command.isQuestion { questions += 1 }
  }

  /// The relay has answered; `wasOverloaded`: it refused the command because it has too much to do.
  package mutating func answered(_ id: CommandID, wasOverloaded: Bool, _ now: UInt64) {
    guard let known = forget(id), known.isOnItsWay else { return }
    let took = now &- known.at
    usual = usual == 0 ? took : usual - usual / 8 + took / 8
    guard known.isQuestion else { return }
    if !wasOverloaded {
      window = min(window + (halved == 0 ? 1 : 1 / window), Self.window.most)
    } else if known.at >= halved {
      // One answer to all that was on its way.
      halved = now
      window = max(1, window / 2)
    }
  }

  /// The connection is gone, and what was on its way with it; devices bring their commands again. What the
  /// relay could take stays known.
  package mutating func restart() {
    (sent, questions, waiting, held) = ([:], 0, [], [])
  }
}
