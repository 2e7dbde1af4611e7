import DequeModule
package import FamilyModel

/// Keeps one connection from burying a relay that has too much to do: it bounds the questions on their way,
/// and commands are not sent again while their answer can still be expected.
///
/// The window for questions grows by one for each that the relay takes, until it refuses one as too many;
/// from then on by one for each windowful, and each refusal halves it; what finds no room waits here, in order,
/// and goes when others were answered.
/// Other commands are never held back: they end what is under way. Moments are nanoseconds of `Monotonic`.
package struct Pace<Item> {
  /// Questions on their way: at first, at most.
  package static var window: (first: Double, most: Double) { (256, 4_096) }
  /// Questions that wait here; of those beyond the device itself knows to send them again.
  package static var waitingMost: Int { 16_384 }
  /// Commands on their way that are remembered; of those beyond, repetitions are not noticed.
  private static var rememberedMost: Int { 65_536 }
  /// The shortest and the longest time for which an answer is expected: four times the usual one.
  private static var patience: ClosedRange<UInt64> { 1_000_000_000...16_000_000_000 }

  /// What becomes of a command: it goes now; it waits here, or its answer is on its way; there is no room.
  package enum Verdict: Hashable, Sendable { case now, later, never }

  private struct Sent {
    var at: UInt64
    var isQuestion: Bool
  }

  private var window = Self.window.first
  private var sent: [CommandID: Sent] = [:]
  private var questions = 0
  private var waiting: Deque<(id: CommandID, item: Item)> = []
  private var held: Set<CommandID> = []
  /// How long an answer takes usually.
  private var usual: UInt64 = 0
  private var halved: UInt64 = 0

  /// A connection on which nothing was sent.
  package init() {}

  /// Questions that wait here.
  package var waitingCount: Int { held.count }

  private var patience: UInt64 {
    min(max(4 * usual, Self.patience.lowerBound), Self.patience.upperBound)
  }

  /// Whether the command is to be sent now; a question that is not waits here.
  package mutating func offer(
    _ id: CommandID, isQuestion: Bool, _ now: UInt64, _ item: @autoclosure () -> Item
  ) -> Verdict {
    if let known = sent[id] {
      guard now >= known.at + patience else { return .later }
      sent[id]!.at = now
      return .now
    }
    guard !isQuestion || questions < Int(window) && held.isEmpty else {
      if held.contains(id) { return .later }
      guard held.count < Self.waitingMost else { return .never }
      held.insert(id)
      waiting.append((id, item()))
      return .later
    }
    note(id, isQuestion, now)
    return .now
  }

  private mutating func note(_ id: CommandID, _ isQuestion: Bool, _ now: UInt64) {
    if sent.count >= Self.rememberedMost {
      sent.removeAll(keepingCapacity: true)
      questions = 0
    }
    sent[id] = Sent(at: now, isQuestion: isQuestion)
    if isQuestion { questions += 1 }
  }

  /// The relay has answered; `isTooMuch`: it refused the command because it has too much to do.
  package mutating func answered(_ id: CommandID, isTooMuch: Bool, _ now: UInt64) {
    guard let known = sent.removeValue(forKey: id) else { return }
    let took = now &- known.at
    usual = usual == 0 ? took : usual - usual / 8 + took / 8
    guard known.isQuestion else { return }
    questions -= 1
    if !isTooMuch {
      window = min(window + (halved == 0 ? 1 : 1 / window), Self.window.most)
    } else if known.at >= halved {
      // One answer to all that was on its way.
      halved = now
      window = max(1, window / 2)
    }
  }

  /// A question that may go now.
  package mutating func next(_ now: UInt64) -> Item? {
    guard questions < Int(window), let entry = waiting.popFirst() else { return nil }
    held.remove(entry.id)
    note(entry.id, true, now)
    return entry.item
  }

  /// The connection is gone, and what was on its way with it; devices bring their commands again. What the
  /// relay could take stays known.
  package mutating func restart() {
    (sent, questions, waiting, held) = ([:], 0, [], [])
  }
}
