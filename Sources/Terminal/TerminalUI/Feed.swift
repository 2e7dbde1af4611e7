import FamilyCore
import FamilyModel
import Wording

/// The record of what the terminal shows, from which each update computes only the new rows.
struct Feed {
  /// Rows to append; with `replacesLast`, they replace the last row.
  struct Output: Equatable {
    var rows: [Row]
    var replacesLast = false
  }
  /// Entries of one conversation in one update; older entries are skipped unless they are open.
  static let backlogLimit = 20

  /// The numbers of the questions; see ``QuestionState/seq``. A question in the outbox has none.
  private(set) var numbers: [QuestionID: UInt64] = [:]
  /// The questions whose bubbles are shown without a number.
  private(set) var unnumbered: Set<QuestionID> = []
  /// The newest sequence number shown of each child's conversation.
  private(set) var shownSeq: [PersonID: UInt64] = [:]
  private var states: [CommandID: DeliveryState?] = [:]
  /// The questions whose bubbles are shown as open.
  private var open: [PersonID: Set<QuestionID>] = [:]
  private var expired: Set<QuestionID> = []
  private var lastChild: PersonID?
  /// The entry whose delivery state is the last row; `nil` if other output follows.
  private var last: CommandID?

  /// Records that other output follows, so that the last row cannot be replaced.
  mutating func invalidateLastRow() { last = nil }

  func question(_ number: UInt64) -> QuestionID? { numbers.first { $0.value == number }?.key }

  /// The rows for everything that is new since the last update.
  mutating func update(_ timeline: Timeline, _ renderer: Renderer, isGuardian: Bool) -> [Output] {
    var outputs: [Output] = []
    for child in timeline.children {
      let entries = timeline.entries(of: child.id)
      number(entries)
      outputs += append(entries, of: child, timeline, renderer, isGuardian)
      outputs += deliveryChanges(entries, renderer)
      outputs += expiries(entries, of: child, renderer)
    }
    return outputs
  }

  /// The newest entries of a conversation, shown again.
  mutating func replay(
    _ child: Person, _ timeline: Timeline, _ renderer: Renderer, isGuardian: Bool
  ) -> [Row] {
    let entries = timeline.entries(of: child.id).suffix(Self.backlogLimit)
    number(Array(entries))
    last = nil
    lastChild = child.id
    return [renderer.rule(child.displayName)]
      + entries.flatMap { entry in
        rows(entry, timeline, renderer, isGuardian) + [state(of: entry, renderer)].compactMap { $0 }
      }
  }

  private mutating func append(
    _ entries: [Entry], of child: Person, _ timeline: Timeline, _ renderer: Renderer,
    _ isGuardian: Bool
  ) -> [Output] {
    let new = entries.filter { states[$0.id] == nil }
    var outputs: [Output] = []
    var asked: Set<QuestionID> = []
    for (index, entry) in new.enumerated() {
      states[entry.id] = .some(entry.delivery)
      shownSeq[child.id] = max(shownSeq[child.id] ?? 0, entry.seq ?? 0)
      if case .question(let card) = entry.body { asked.insert(card.header.id) }
      let isOpen =
        if case .question(let card) = entry.body { card.isOpen(renderer.now) } else { false }
      guard index >= new.count - Self.backlogLimit || isOpen else { continue }
      // A new bubble already shows its question's outcome.
      switch entry.body {
      case .decision(let id, _, _), .cancellation(let id): if asked.contains(id) { continue }
      default: break
      }
      if isGuardian, timeline.children.count > 1, lastChild != child.id {
        outputs.append(Output(rows: [renderer.rule(child.displayName)]))
      }
      lastChild = child.id
      outputs.append(Output(rows: rows(entry, timeline, renderer, isGuardian)))
      last = nil
      if let state = state(of: entry, renderer) {
        outputs.append(Output(rows: [state]))
        last = entry.id
      }
    }
    return outputs
  }

  /// Learns the numbers of the questions that the relay has committed.
  private mutating func number(_ entries: [Entry]) {
    for entry in entries {
      switch entry.body {
      case .question(let card), .inPerson(let card, _, _): numbers[card.header.id] = entry.seq
      default: break
      }
    }
  }

  /// Records whether the question's bubble is shown without a number.
  mutating func show(_ id: QuestionID) {
    if numbers[id] == nil { unnumbered.insert(id) } else { unnumbered.remove(id) }
  }

  // MARK: Changes of shown entries

  /// The changed delivery states of questions and of the owner's newest text.
  private mutating func deliveryChanges(_ entries: [Entry], _ renderer: Renderer) -> [Output] {
    let newest = entries.last { $0.isMine && $0.isText }?.id
    var outputs: [Output] = []
    for entry in entries where states[entry.id] != .some(entry.delivery) {
      states[entry.id] = .some(entry.delivery)
      guard !entry.isText || entry.id == newest else { continue }
      let isBelow = last == entry.id
      guard let row = state(of: entry, renderer, isBelow: isBelow) else { continue }
      outputs.append(Output(rows: [row], replacesLast: isBelow))
      last = entry.id
    }
    return outputs
  }

  private mutating func expiries(
    _ entries: [Entry], of child: Person, _ renderer: Renderer
  ) -> [Output] {
    var outputs: [Output] = []
    for case .question(let card) in entries.map(\.body)
    where card.isExpired(renderer.now) && expired.insert(card.header.id).inserted {
      // A new bubble already shows that its question is expired.
      guard open[child.id]?.contains(card.header.id) ?? false else { continue }
      outputs.append(
        Output(rows: statusLine(card.header.id, renderer.wording(.expiredLine), renderer, .bad)))
      last = nil
    }
    open[child.id] = Set(
      entries.compactMap { entry in
        guard case .question(let card) = entry.body, card.isOpen(renderer.now) else { return nil }
        return card.header.id
      })
    return outputs
  }
}
