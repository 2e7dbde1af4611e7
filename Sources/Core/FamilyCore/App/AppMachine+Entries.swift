import FamilyModel

/// The entries that the app's code handles: responses, and moments of activities.
extension AppMachine {
  mutating func deliver() -> [Effect] {
    var effects: [Effect] = []
    for index in pendingEntries.indices where !pendingEntries[index].isDelivered {
      let position = pendingEntries[index].position
      switch pendingEntries[index].content {
      case .response(let question, let choice):
        guard subscribed.contains(question.topic.kind) else { continue }
        effects.append(.deliver(position, question, choice))
      case .moment(let name, let number, let moment, let time):
        guard handlesMoments, isWanted(pendingEntries[index].content) else { continue }
        effects.append(.moment(position, name, number, moment, at: time))
      }
      pendingEntries[index].isDelivered = true
    }
    return effects
  }

  /// The app's loops over two topics run independently, so a later response may be consumed first.
  mutating func consume(_ position: UInt64) -> [Effect] {
    guard let index = pendingEntries.firstIndex(where: { $0.position == position }) else {
      return []
    }
    var forgotten: [Effect] = []
    if case .response(let question, _) = pendingEntries.remove(at: index).content {
      forgotten = forgetAsked(question.id)
    }
    guard index > 0 else { return forgotten + acknowledgeConsumed() }
    consumedAhead.insert(position)
    return forgotten + [.persist([.put(.consumedAhead(position))])]
  }

  /// Drops the entries that the app's code need no longer handle.
  mutating func dropUnwanted() -> [Effect] {
    pendingEntries = pendingEntries.filter { $0.isDelivered || isWanted($0.content) }
    return acknowledgeConsumed()
  }

  /// Acknowledges consumed entries. An entry that the code does not handle is consumed with the one
  /// before it.
  mutating func acknowledgeConsumed() -> [Effect] {
    let done = pendingEntries.first.map { $0.position - 1 } ?? lastReceived
    guard done > consumed else { return [] }
    consumed = done
    return [.persist(dropConsumedAhead() + [position]), .send(.acknowledge(consumed))]
  }

  mutating func dropConsumedAhead() -> [AppRecordChange] {
    let passed = consumedAhead.filter { $0 <= consumed }.sorted()
    consumedAhead.subtract(passed)
    pendingEntries.removeAll { $0.position <= consumed && !$0.isDelivered }
    return passed.map { .remove(.consumedAhead($0)) }
  }
}
