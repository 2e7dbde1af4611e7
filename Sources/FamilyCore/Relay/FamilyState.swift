public import FamilyModel

/// A family as its log tells it: events in, state out. Two states of the same events are equal.
public struct FamilyState: Hashable, Sendable {
  /// A question as the relay sees it: ids, choices and expiry.
  ///
  /// `open` → `answered` by the first answer (R3), or → `cancelled` by the child (R8). Both are final.
  /// Expiry is a matter of the clock, and is looked at when somebody answers.
  struct Question: Hashable, Sendable {
    enum Phase: Hashable, Sendable { case open, answered, cancelled }
    var header: QuestionHeader
    var seq: UInt64
    var phase = Phase.open
    var lastAsked: Instant

    /// Open until its expiration, and at that very moment still.
    func isOpen(_ now: Instant) -> Bool {
      phase == .open && header.expiration.map { now <= $0 } ?? true
    }
  }

  /// Generations are numbers of 24 bits: what a topic has room for.
  public static let maximumGeneration: UInt32 = 0xFF_FFFF

  /// Who is in the family.
  public internal(set) var roster = Roster()
  /// The last event; zero: the family does not exist.
  public internal(set) var seq: UInt64 = 0
  /// The last event of each audience.
  var heads: [Audience: UInt64] = [:]
  /// Grows whenever a device leaves the audience: it then has a new topic and key.
  var generations: [Audience: UInt32] = [:]
  /// What each accepted command led to: a repeated one gets the same, for ever.
  var results: [CommandID: UInt64] = [:]
  var questions: [QuestionID: Question] = [:]
  /// The questions of each child that are neither answered nor cancelled, in the order asked.
  var open: [PersonID: [QuestionID]] = [:]
  var limitsOff: Set<PersonID> = []
  /// The family's passcode (A4).
  public internal(set) var passcode: Passcode?
  /// Everybody who ever was in the family.
  var persons: Set<PersonID> = []
  /// The last event of a conversation that the child wrote: what receipts are about (M4).
  var lastOfChild: [PersonID: UInt64] = [:]

  /// A family that does not exist yet.
  public init() {}

  /// The last event of the audience; zero: there is none.
  public func head(_ audience: Audience) -> UInt64 { heads[audience] ?? 0 }

  /// How often somebody has left the audience.
  public func generation(_ audience: Audience) -> UInt32 { generations[audience] ?? 0 }

  /// Takes an event that is durable, or about to be.
  public mutating func apply(_ event: Event) {
    seq = event.seq
    heads[event.audience] = event.seq
    results[event.command] = event.seq
    if let child = event.audience.conversationChild, roster.device(event.device)?.person == child {
      lastOfChild[child] = event.seq
    }
    switch event.body {
    case .rosterChanged(let new): replace(by: new)
    case .limitsChanged(let child, let on):
      if on { limitsOff.remove(child) } else { limitsOff.insert(child) }
    case .asked(let header, _):
      questions[header.id] = Question(header: header, seq: event.seq, lastAsked: event.at)
      open[header.child, default: []].append(header.id)
    case .reminded(let id): questions[id]?.lastAsked = event.at
    case .cancelled(let id): close(id, .cancelled)
    case .decided(let decision): close(decision.question, .answered)
    case .passcodeChanged(let new): passcode = new
    case .answeredInPerson(let header, _, _, _):
      questions[header.id] = Question(
        header: header, seq: event.seq, phase: .answered, lastAsked: event.at)
    case .accountChanged, .posted, .contactChanged, .withdrawn, .ageNoted, .ageSet: break
    }
  }

  private mutating func replace(by new: Roster) {
    var left: Set<Audience> = []
    for device in roster.devices {
      let before = roster.person(device.person).map { roster.audiences(of: $0) } ?? []
      // A device with a new key is a new device: who holds the old key has left.
      let after = new.device(device.id) == device ? new.person(device.person) : nil
      left.formUnion(Set(before).subtracting(after.map { new.audiences(of: $0) } ?? []))
    }
    for audience in left.sorted() {
      generations[audience] = (generation(audience) + 1) & Self.maximumGeneration
    }
    roster = new
    persons.formUnion(new.persons.map(\.id))
  }

  private mutating func close(_ id: QuestionID, _ phase: Question.Phase) {
    guard let child = questions[id]?.header.child else { return }
    questions[id]?.phase = phase
    open[child]?.removeAll { $0 == id }
  }
}
