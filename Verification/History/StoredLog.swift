import FamilyModel

/// The relay's log as the store has it at the end of a run, by family.
struct StoredLog {
  private(set) var families: [FamilyID: [Event]] = [:]
  private(set) var isRead = false

  init(_ history: History) {
    for (_, fact) in history.facts {
      if case .stored(let family, let event) = fact { families[family, default: []].append(event) }
      if case .storeRead = fact { isRead = true }
    }
  }

  func events(_ family: FamilyID) -> [Event] { families[family] ?? [] }

  /// The event at this place; logs have no gaps.
  func event(_ family: FamilyID, _ seq: UInt64) -> Event? {
    let events = events(family)
    guard seq >= 1, seq <= UInt64(events.count), events[Int(seq) - 1].seq == seq else {
      return events.first { $0.seq == seq }
    }
    return events[Int(seq) - 1]
  }

  /// The places of each audience's events, in order.
  func chains(_ family: FamilyID) -> [Audience: [UInt64]] {
    var chains: [Audience: [UInt64]] = [:]
    for event in events(family) { chains[event.audience, default: []].append(event.seq) }
    return chains
  }

  /// The rosters, each with the place from which it holds, ascending.
  func rosters(_ family: FamilyID) -> [(seq: UInt64, roster: Roster)] {
    events(family).compactMap { event in
      if case .rosterChanged(let roster) = event.body { (event.seq, roster) } else { nil }
    }
  }
}
