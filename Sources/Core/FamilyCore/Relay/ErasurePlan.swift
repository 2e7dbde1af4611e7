package import FamilyModel

/// The rule by which contents are erased: which events of a log lose their contents.
///
/// The plan reads a log in its order. Two parts of the rule apply:
///
/// - **Retention.** Texts, and questions that were declined, cancelled or expired, a stated time after
///   they ended. Approved questions stay, because their contents are the permissions. Withdrawals,
///   contacts, accounts and age settings stay for the same reason.
/// - **Persons.** All contents of the conversation and of the account of a removed person, and the texts
///   that this person wrote.
///
/// An open question: *asked* → (declined, cancelled or expired) *due* after the stated time. *Asked* →
/// (approved) *kept*.
package struct ErasurePlan: Sendable {
  private struct Name: Hashable {
    var family: FamilyID
    var question: QuestionID
  }

  /// The last moment of an end that is long enough ago; `nil` erases nothing by age.
  private let end: Instant?
  private let persons: [FamilyID: Set<PersonID>]
  /// The questions without an end.
  private var open: [Name: (position: Int, expiration: Instant?)] = [:]
  /// The owners of the named families' devices.
  private var owners: [FamilyID: [DeviceID: PersonID]] = [:]
  /// The newest rosters of the named families.
  private var rosters: [FamilyID: Roster] = [:]

  /// A plan before the first event.
  ///
  /// - Parameters:
  ///   - end: See ``end``.
  ///   - persons: The persons of each family whose contents are erased.
  package init(endedBy end: Instant? = nil, persons: [FamilyID: Set<PersonID>] = [:]) {
    self.end = end
    self.persons = persons
  }

  /// Adds the next event of the log.
  ///
  /// - Parameter position: The event's number in the log.
  /// - Returns: The positions of events that lose their contents now.
  package mutating func add(_ event: Event, of family: FamilyID, at position: Int) -> [Int] {
    if concernsPerson(event, of: family) { return [position] }
    guard let end else { return [] }
    let hasEnded = event.at <= end
    switch event.body {
    case .posted: return hasEnded ? [position] : []
    case .answeredInPerson: return hasEnded && event.body.mayBeErased ? [position] : []
    case .asked(let header, _):
      open[Name(family: family, question: header.id)] = (position, header.expiration)
      return []
    case .cancelled(let id): return close(id, of: family, isKept: !hasEnded)
    case .decided(let decision):
      let isKept = !hasEnded || decision.choice.answer == .approval
      return close(decision.question, of: family, isKept: isKept)
    default: return []
    }
  }

  /// Ends the log.
  ///
  /// - Returns: The positions of the questions that expired without a decision, ascending.
  package func finish() -> [Int] {
    guard let end else { return [] }
    return open.values.filter { $0.expiration.map { $0 <= end } ?? false }.map(\.position).sorted()
  }

  /// The named persons that no roster had, or that the newest roster still has.
  package var membersOrUnknown: [FamilyID: Set<PersonID>] {
    persons.reduce(into: [:]) { result, entry in
      let (family, persons) = entry
      let known = Set((owners[family] ?? [:]).values)
      let left = persons.filter { rosters[family]?.person($0) != nil || !known.contains($0) }
      if !left.isEmpty { result[family] = left }
    }
  }

  private mutating func close(_ id: QuestionID, of family: FamilyID, isKept: Bool) -> [Int] {
    guard let asked = open.removeValue(forKey: Name(family: family, question: id)), !isKept else {
      return []
    }
    return [asked.position]
  }

  /// Whether the event's content is that of a named person.
  private mutating func concernsPerson(_ event: Event, of family: FamilyID) -> Bool {
    guard let persons = persons[family] else { return false }
    if case .rosterChanged(let roster) = event.body {
      rosters[family] = roster
      for device in roster.devices { owners[family, default: [:]][device.id] = device.person }
    }
    guard event.body.content != nil else { return false }
    if persons.contains(where: { [.account($0), .conversation($0)].contains(event.audience) }) {
      return true
    }
    guard case .posted = event.body, let author = owners[family]?[event.device] else {
      return false
    }
    return persons.contains(author)
  }
}
