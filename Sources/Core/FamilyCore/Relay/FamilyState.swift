public import FamilyModel

/// A family as its log tells it: events in, state out. Two states of the same events are equal.
public struct FamilyState: Hashable, Sendable {
  /// An open question as the relay sees it: ids, choices and expiry.
  ///
  /// `open` → `answered` by the first answer (R3), or → `cancelled` by the child (R8). Both are final, and
  /// go to the ``closed`` ones. Expiry is a matter of the clock, and is looked at when somebody answers.
  struct Question: Hashable, Sendable {
    var header: QuestionHeader
    var seq: UInt64
    var lastAsked: Instant

    /// Open until its expiration, and at that very moment still.
    func isOpen(_ now: Instant) -> Bool { header.expiration.map { now <= $0 } ?? true }
  }

  /// Generations are numbers of 24 bits: what a topic has room for.
  public static let maximumGeneration: UInt32 = 0xFF_FFFF

  /// Who is in the family.
  public internal(set) var roster = Roster()
  /// The last event; zero: the family does not exist.
  public internal(set) var seq: UInt64 = 0
  /// The event with the roster.
  private(set) var rosterSeq: UInt64 = 0
  /// The last event of each audience.
  var heads = SmallMap<Audience, UInt64>()
  /// Grows whenever a device leaves the audience: it then has a new topic and key.
  var generations = SmallMap<Audience, UInt32>()
  var results = CommandResults()
  /// How many results are kept in memory, at least.
  let resultsKept: Int
  /// The questions that are neither answered nor cancelled.
  var questions = SmallMap<QuestionID, Question>()
  var closed = SmallMap<QuestionID, ClosedQuestion>()
  var limitsOff: Set<PersonID> = []
  /// The family's passcode (A4).
  public internal(set) var passcode: Passcode?
  /// The largest number that a person of the family ever had.
  var lastPerson = PersonID(0)
  /// The last event of a conversation that the child wrote: what receipts are about (M4). None, where it is
  /// a question that was answered: the answer says more than any receipt.
  var lastOfChild = SmallMap<PersonID, UInt64>()

  var invitations = Invitations()

  /// A family that does not exist yet.
  ///
  /// - Parameter resultsKept: How many results of commands stay in memory, at least.
  public init(resultsKept: Int = .max) { self.resultsKept = resultsKept }

  /// The last event of the audience; zero: there is none.
  public func head(_ audience: Audience) -> UInt64 { heads[audience] ?? 0 }

  /// How often somebody has left the audience.
  public func generation(_ audience: Audience) -> UInt32 { generations[audience] ?? 0 }

  /// Takes an event that is durable, or about to be.
  public mutating func apply(_ event: Event) {
    seq = event.seq
    heads.set(event.audience, event.seq)
    results.add(event.command, event.seq, most: resultsKept)
    if case .keysShared = event.body {
      // Nobody reads it.
    } else if let child = event.audience.conversationChild,
      roster.member(of: event.device)?.id == child
    {
      lastOfChild.set(child, event.seq)
    }
    switch event.body {
    case .rosterChanged(let new):
      replace(by: new)
      rosterSeq = event.seq
    case .limitsChanged(let child, let on):
      if on { limitsOff.remove(child) } else { limitsOff.insert(child) }
    case .asked(let header, _):
      questions.set(header.id, Question(header: header, seq: event.seq, lastAsked: event.at))
    case .reminded(let id):
      guard var question = questions[id] else { return }
      question.lastAsked = event.at
      questions[id] = question
    case .cancelled(let id): close(id, isAnswered: false)
    case .decided(let decision): close(decision.question, isAnswered: true)
    case .passcodeChanged(let new): passcode = new
    case .answeredInPerson(let header, _, _, _):
      close(header, seq: event.seq, isAnswered: true)
    case .invited(let invitation): invitations.add(invitation, now: event.at)
    case .joinRequested(let join): invitations.use(join)
    case .accountChanged, .posted, .contactChanged, .withdrawn, .keysShared, .ageNoted, .ageSet:
      break
    }
  }

  /// Gives back the room for growth of a history that was just read: most families ask for nothing more.
  mutating func fit() {
    results.fit()
    closed.fit()
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
    invitations.forget(in: new)
    lastPerson = max(lastPerson, new.persons.last?.id ?? lastPerson)
  }

  private mutating func close(_ id: QuestionID, isAnswered: Bool) {
    guard let question = questions.removeValue(forKey: id) else { return }
    let child = question.header.child
    if isAnswered, lastOfChild[child] == question.seq { lastOfChild[child] = nil }
    close(question.header, seq: question.seq, isAnswered: isAnswered)
  }

  private mutating func close(_ header: QuestionHeader, seq: UInt64, isAnswered: Bool) {
    let digest = header.digest
    closed.set(
      header.id,
      ClosedQuestion(seq: seq, digest: digest, child: header.child, isAnswered: isAnswered))
  }
}

extension FamilyState: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(resultsKept))
    packer.add(roster)
    packer.add(seq)
    packer.add(rosterSeq)
    packer.add(heads)
    packer.add(generations)
    packer.add(results)
    packer.add(questions)
    packer.add(closed)
    packer.add(limitsOff.sorted())
    packer.add(passcode)
    packer.add(lastPerson)
    packer.add(lastOfChild)
    packer.add(invitations)
  }

  init(_ packed: inout Unpacker) {
    self.init(resultsKept: Int(clamping: packed.number()))
    roster = packed.value()
    seq = packed.number()
    rosterSeq = packed.number()
    heads = packed.value()
    generations = packed.value()
    results = packed.value()
    questions = packed.value()
    closed = packed.value()
    limitsOff = Set(packed.value() as [PersonID])
    passcode = packed.value()
    lastPerson = packed.value()
    lastOfChild = packed.value()
    invitations = packed.value()
  }
}

extension FamilyState.Question: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(header)
    packer.add(seq)
    packer.add(lastAsked)
  }

  init(_ packed: inout Unpacker) {
    header = packed.value()
    seq = packed.number()
    lastAsked = packed.value()
  }
}
