public import FamilyModel

/// The state of a family as its log defines it. Equal logs produce equal states.
public struct FamilyState: Hashable, Sendable {
  /// An open question as the relay sees it: ids, choices and expiry.
  ///
  /// `open` → (first answer) `answered`; `open` → (child cancels) `cancelled`. Both are final and
  /// move the question to ``closed``. Expiry depends on the clock and is checked at each answer. A
  /// question moves to ``closed`` with the first new question of the family that is a day later than
  /// its expiration.
  struct Question: Hashable, Sendable {
    var header: QuestionHeader
    var seq: UInt64
    var lastAsked: Instant

    /// Whether the question may be answered. The moment of expiration is included.
    func isOpen(_ now: Instant) -> Bool { !header.hasExpired(at: now) }
  }

  /// The largest generation: a topic has 24 bits for the number.
  public static let maximumGeneration: UInt32 = 0xFF_FFFF

  /// The family's persons and devices.
  public internal(set) var roster = Roster()
  /// The keys that no later roster may contain.
  var removedKeys = RemovedKeys()
  /// The newest event; zero: the family does not exist.
  public internal(set) var seq: UInt64 = 0
  /// The event of the current roster.
  private(set) var rosterSeq: UInt64 = 0
  /// The command of the current roster.
  private(set) var rosterCommand = CommandID(high: 0, low: 0)
  /// The device that signed the current roster.
  private(set) var rosterSigner = DeviceID(0)
  /// The time of the first roster.
  private(set) var founded = Instant(milliseconds: 0)
  /// The newest event of each audience.
  var heads = SmallMap<Audience, UInt64>()
  /// The hash of each audience's chain up to the newest event.
  var hashes = SmallMap<Audience, ChainHash>()
  /// The generation of each audience. A device that leaves the audience starts a new generation
  /// with a new topic and key.
  var generations = SmallMap<Audience, UInt32>()
  var results = CommandResults()
  /// The least number of command results in memory.
  let resultsKept: Int
  /// The open questions, including those that expired lately.
  var questions = SmallMap<QuestionID, Question>()
  var closed = SmallMap<QuestionID, ClosedQuestion>()
  /// The statements about the family's passcode.
  var passcodes = Statements<Passcode>()
  /// The largest number that a person of the family ever had.
  var lastPerson = PersonID(0)
  /// The newest event of each conversation that the child wrote, which receipts refer to. No entry
  /// exists after the answer to the child's newest question, because the answer implies a receipt.
  var lastOfChild = SmallMap<PersonID, UInt64>()

  /// The newest event of each device in each audience.
  var lastWritten = SmallMap<Authorship, UInt64>()

  var invitations = Invitations()
  /// The names of each audience's content keys.
  var keys = SmallMap<Audience, AudienceKeys>()
  /// The bytes of the stored events.
  var storage = StorageUse()

  /// Creates the state of a family that does not exist yet.
  ///
  /// - Parameter resultsKept: The least number of command results in memory.
  public init(resultsKept: Int = .max) { self.resultsKept = resultsKept }

  /// The family's passcode.
  public var passcode: Passcode? { passcodes.current?.value }

  /// The audience's newest event; zero: none.
  public func head(_ audience: Audience) -> UInt64 { heads[audience] ?? 0 }

  /// The audience's newest event with its hash.
  package func position(_ audience: Audience) -> ChainPosition {
    ChainPosition(seq: head(audience), hash: hashes[audience] ?? ChainHash())
  }

  /// The number of times that a device left the audience, modulo 2²⁴.
  public func generation(_ audience: Audience) -> UInt32 { generations[audience] ?? 0 }

  /// Applies an event that is durable or becomes durable with this step's commit.
  public mutating func apply(_ event: Event) {
    seq = event.seq
    heads.set(event.audience, event.seq)
    hashes.set(event.audience, event.hash)
    storage.add(event)
    recordAuthor(of: event)
    // A join request has no command whose result is ever looked up.
    if case .joinRequested = event.body {} else { results.add(event, limit: resultsKept) }
    if event.body.mayHaveReceipt, let child = event.audience.conversationChild,
      roster.member(of: event.device)?.id == child
    {
      lastOfChild.set(child, event.seq)
    }
    switch event.body {
    case .rosterChanged(let new):
      if rosterSeq == 0 { founded = event.at }
      replaceRoster(with: new, at: event.at)
      rosterSeq = event.seq
      rosterCommand = event.command
      rosterSigner = event.signature?.signer ?? event.device
    case .asked(let header, _):
      closeExpired(at: event.at)
      questions.set(header.id, Question(header: header, seq: event.seq, lastAsked: event.at))
    case .reminded(let id):
      guard var question = questions[id] else { return }
      question.lastAsked = event.at
      questions[id] = question
    case .cancelled(let id): close(id, .cancelled)
    case .decided(let decision): close(decision.question, .answered)
    case .passcodeChanged(let new): passcodes.add(new, event.order)
    case .answeredInPerson(let header, _, _, _):
      close(header, seq: event.seq, .answered)
    case .invited(let invitation): invitations.add(invitation, now: event.at)
    case .joinRequested(let join): invitations.markUsed(by: join)
    case .keysShared(let wraps):
      keys[event.audience, default: AudienceKeys(since: founded)]
        .add(wraps, by: event.signature?.signer ?? event.device)
    case .limitsChanged, .accountChanged, .posted, .contactChanged, .withdrawn, .complained,
      .ageNoted, .ageSet, .settingsChanged, .beat, .opaque:
      break
    }
  }

  /// Releases the unused capacity after loading a history: most families append little.
  mutating func trimCapacity() {
    results.trimCapacity()
    closed.trimCapacity()
  }

  private mutating func replaceRoster(with new: Roster, at time: Instant) {
    for audience in roster.audiencesLeft(with: new).sorted() {
      generations[audience] = (generation(audience) + 1) & Self.maximumGeneration
      keys[audience, default: AudienceKeys(since: founded)].startEpoch(at: time)
    }
    removedKeys.record(from: roster, to: new)
    roster = new
    results.keepDevices(of: new)
    invitations.removeEnrolled(in: new)
    forgetAuthors(notIn: new)
    storage.keepDevices(of: new)
    lastPerson = max(lastPerson, new.persons.last?.id ?? lastPerson)
  }

  /// Drops the headers of questions that expired a day before this time.
  private mutating func closeExpired(at now: Instant) {
    let limit = now - ClosedQuestion.expiredTime
    func isLongExpired(_ question: Question) -> Bool { question.header.hasExpired(at: limit) }
    guard questions.entries.contains(where: { isLongExpired($0.value) }) else { return }
    for entry in questions.entries where isLongExpired(entry.value) { close(entry.key, .expired) }
  }

  private mutating func close(_ id: QuestionID, _ end: ClosedQuestion.End) {
    guard let question = questions.removeValue(forKey: id) else {
      // The clock was set back by more than the time of an expired question.
      if closed[id]?.end == .expired { closed[id]?.end = end }
      return
    }
    let child = question.header.child
    if end == .answered, lastOfChild[child] == question.seq { lastOfChild[child] = nil }
    close(question.header, seq: question.seq, end)
  }

  private mutating func close(_ header: QuestionHeader, seq: UInt64, _ end: ClosedQuestion.End) {
    let digest = header.digest
    closed.set(
      header.id, ClosedQuestion(seq: seq, digest: digest, child: header.child, end: end))
  }
}

extension FamilyState: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(resultsKept))
    packer.add(roster)
    packer.add(seq)
    packer.add(rosterSeq)
    packer.add(rosterCommand)
    packer.add(rosterSigner)
    packer.add(founded)
    packer.add(heads)
    packer.add(hashes)
    packer.add(generations)
    packer.add(results)
    packer.add(questions)
    packer.add(closed)
    packer.add(passcodes)
    packer.add(lastPerson)
    packer.add(lastOfChild)
    packer.add(lastWritten)
    packer.add(invitations)
    packer.add(removedKeys)
    packer.add(keys)
    packer.add(storage)
  }

  init(_ packed: inout Unpacker) {
    self.init(resultsKept: Int(clamping: packed.number()))
    roster = packed.value()
    seq = packed.number()
    rosterSeq = packed.number()
    rosterCommand = packed.value()
    rosterSigner = packed.value()
    founded = packed.value()
    heads = packed.value()
    hashes = packed.value()
    generations = packed.value()
    results = packed.value()
    questions = packed.value()
    closed = packed.value()
    passcodes = packed.value()
    lastPerson = packed.value()
    lastOfChild = packed.value()
    lastWritten = packed.value()
    invitations = packed.value()
    removedKeys = packed.value()
    keys = packed.value()
    storage = packed.value()
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
