public import FamilyModel

/// A family as its log tells it: events in, state out. Two states of the same events are equal.
public struct FamilyState: Hashable, Sendable {
  /// A question as the relay sees it: ids, choices and expiry.
  ///
  /// `open` → `answered` by the first answer (R3), or → `cancelled` by the child. Both are final. Expiry
  /// is a matter of the clock, and is looked at when somebody answers (R8).
  struct Question: Hashable, Sendable {
    enum Phase: Hashable, Sendable { case open, answered, cancelled }
    var header: QuestionHeader
    var seq: UInt64
    var phase = Phase.open
    var lastAsked: Instant

    func isOpen(_ now: Instant) -> Bool {
      phase == .open && header.expiration.map { now <= $0 } ?? true
    }
  }

  /// Who is in the family.
  public internal(set) var roster = Roster()
  /// The last event; zero: the family does not exist.
  public internal(set) var seq: UInt64 = 0
  /// The last event of each audience.
  var heads: [Audience: UInt64] = [:]
  /// Grows whenever somebody leaves an audience: new topics and keys for all.
  var generation: UInt32 = 0
  /// What each accepted command led to: a repeated one gets the same, for ever.
  var results: [CommandID: UInt64] = [:]
  var questions: [QuestionID: Question] = [:]
  /// The open questions of each child, in the order asked.
  var open: [PersonID: [QuestionID]] = [:]
  var limitsOff: Set<PersonID> = []
  /// The last event of a conversation that the child wrote: what receipts are about (M4).
  var lastOfChild: [PersonID: UInt64] = [:]

  /// A family that does not exist yet.
  public init() {}

  /// The last event of the audience.
  public func head(_ audience: Audience) -> UInt64 { heads[audience] ?? 0 }

  /// Whether the person may see the audience's events.
  public func isMember(_ person: Person, of audience: Audience) -> Bool {
    if audience == .family { return true }
    if let child = audience.conversationChild {
      return self.roster.person(child)?.role == .child
        && (person.id == child || person.role.isGuardian)
    }
    guard let owner = audience.accountPerson.flatMap({ roster.person($0) }) else { return false }
    return person.id == owner.id || owner.role == .child && person.role.isGuardian
  }

  /// The audiences of the person, ascending.
  public func audiences(of person: Person) -> [Audience] {
    let all =
      [.family] + roster.children.map { Audience.conversation($0.id) }
      + roster.persons.map { Audience.account($0.id) }
    return all.filter { isMember(person, of: $0) }
  }

  /// Takes an event that is durable, or about to be.
  public mutating func apply(_ event: Event) {
    seq = event.seq
    heads[event.audience] = event.seq
    results[event.command] = event.seq
    if let child = event.audience.conversationChild,
      roster.device(event.device)?.person == child
    {
      lastOfChild[child] = event.seq
    }
    switch event.body {
    case .rosterChanged(let new):
      let stays = roster.devices.allSatisfy { old in new.device(old.id) == old }
      if !stays { generation += 1 }
      roster = new
    case .limitsChanged(let child, let on):
      if on { limitsOff.remove(child) } else { limitsOff.insert(child) }
    case .asked(let header, _):
      questions[header.id] = Question(header: header, seq: event.seq, lastAsked: event.at)
      open[header.child, default: []].append(header.id)
    case .reminded(let id): questions[id]?.lastAsked = event.at
    case .cancelled(let id): close(id, .cancelled)
    case .decided(let decision): close(decision.question, .answered)
    case .accountChanged, .posted, .contactChanged: break
    }
  }

  private mutating func close(_ id: QuestionID, _ phase: Question.Phase) {
    guard let child = questions[id]?.header.child else { return }
    questions[id]?.phase = phase
    open[child]?.removeAll { $0 == id }
  }
}
