import FamilyCore
import FamilyModel
import Wording

/// Remembers what the screen shows already, and says what is new: a terminal only grows.
struct Feed {
  /// Rows to append; `replacesLast`: instead of the row above.
  struct Output: Equatable {
    var rows: [Row]
    var replacesLast = false
  }
  /// Most entries of one conversation that appear at once; older ones stay away.
  static let mostAtOnce = 20

  /// The number by which people name a question here.
  private(set) var numbers: [QuestionID: Int] = [:]
  /// How far each conversation is shown.
  private(set) var shown: [PersonID: UInt64] = [:]
  private var states: [CommandID: DeliveryState?] = [:]
  /// The questions whose bubbles can be answered.
  private var open: [PersonID: Set<QuestionID>] = [:]
  private var expired: Set<QuestionID> = []
  private var lastChild: PersonID?
  /// Whose delivery state is the last row.
  private var last: CommandID?

  /// Something else was written below.
  mutating func interrupted() { last = nil }

  func question(_ number: Int) -> QuestionID? { numbers.first { $0.value == number }?.key }

  /// What is new, for the owner of the device.
  mutating func update(_ timeline: Timeline, _ renderer: Renderer, isGuardian: Bool) -> [Output] {
    var outputs: [Output] = []
    for child in timeline.children {
      let entries = timeline.entries(of: child.id)
      outputs += append(entries, of: child, timeline, renderer, isGuardian)
      outputs += moved(entries, renderer)
      outputs += expiries(entries, of: child, renderer)
    }
    return outputs
  }

  /// The end of a conversation once more.
  mutating func again(
    _ child: Person, _ timeline: Timeline, _ renderer: Renderer, isGuardian: Bool
  ) -> [Row] {
    let entries = timeline.entries(of: child.id).suffix(Self.mostAtOnce)
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
      shown[child.id] = max(shown[child.id] ?? 0, entry.seq ?? 0)
      if case .question(let card) = entry.body { asked.insert(card.header.id) }
      let isOpen =
        if case .question(let card) = entry.body { card.isOpen(renderer.now) } else { false }
      guard index >= new.count - Self.mostAtOnce || isOpen else { continue }
      // What came of a question stands in its own bubble, where that is new.
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

  mutating func number(_ id: QuestionID) -> Int {
    if let number = numbers[id] { return number }
    numbers[id] = numbers.count + 1
    return numbers.count
  }

  // MARK: what changed of what is shown

  /// The delivery states that moved (M4): of the questions, and of the owner's newest text.
  private mutating func moved(_ entries: [Entry], _ renderer: Renderer) -> [Output] {
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
      // A bubble that is new says so itself.
      guard open[child.id]?.contains(card.header.id) ?? false else { continue }
      outputs.append(
        Output(rows: note(card.header.id, renderer.wording(.expiredLine), renderer, .bad)))
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
