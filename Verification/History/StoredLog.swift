import FamilyModel

/// The relay's stored log at the end of a run, by family.
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

  /// The event with this sequence number. A log without gaps holds it at index `seq - 1`.
  func event(_ family: FamilyID, _ seq: UInt64) -> Event? {
    let events = events(family)
    guard seq >= 1, seq <= UInt64(events.count), events[Int(seq) - 1].seq == seq else {
      return events.first { $0.seq == seq }
    }
    return events[Int(seq) - 1]
  }

  /// The sequence numbers of each audience's events, in order.
  func chains(_ family: FamilyID) -> [Audience: [UInt64]] {
    var chains: [Audience: [UInt64]] = [:]
    for event in events(family) { chains[event.audience, default: []].append(event.seq) }
    return chains
  }

  /// The rosters with the sequence numbers from which they apply, in order.
  func rosters(_ family: FamilyID) -> [(seq: UInt64, roster: Roster)] {
    events(family).compactMap { event in
      if case .rosterChanged(let roster) = event.body { (event.seq, roster) } else { nil }
    }
  }
}
