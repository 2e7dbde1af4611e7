public import FamilyModel

/// What there is to know of the device.
extension DeviceLink {
  /// The question, where it was asked in a conversation that this device takes part in.
  func question(_ id: QuestionID) -> QuestionState? {
    for child in conversations.keys.sorted() {
      if let state = conversations[child]?.questions[id] { return state }
    }
    return nil
  }

  /// Whether the relay has told of events of the family that are not here yet.
  var isBehind: Bool { delivered(.family) < familyHead }

  /// Whether it can give keys to others now. What is due before waits, without a timer.
  var mayShare: Bool { state == .attached && !isBehind }

  /// The rosters as apps see them, in order.
  var rosterProofs: [RosterProof] { trust?.evidence?.rosters ?? [] }

  /// What apps may see of these commands' events, each once.
  func evidence(_ commands: [CommandID], for app: AppID) -> [Evidence] {
    guard let trust, let file = trust.evidence else { return [] }
    var seen: Set<CommandID> = []
    return commands.filter { seen.insert($0).inserted }
      .compactMap { file.evidence($0, for: app, trust, question: question) }
  }

  /// Events that are durable here and not believed yet: a key or a roster is on its way.
  package var asideCount: Int { trust?.aside.count ?? 0 }

  /// The owner of this device, once the family is known.
  public var person: Person? { roster.person(personID) }

  /// Whose device it is, or was; person zero where that is not known.
  public func owner(of device: DeviceID) -> PersonID { owners[device] ?? PersonID(0) }

  /// The cursors, ascending by audience.
  public var position: [Cursor] { cursors.entries.map(\.value) }

  /// Commands that the relay has not acknowledged, in order.
  public var waiting: [Command] { outbox.pending.map(\.command) }

  /// What is set about the person's age, and what apps were told: with what this device has not brought to
  /// the relay yet, which so holds at once (D10).
  public func age(of person: PersonID) -> AgeState {
    var state = ages[person]?.state ?? AgeState()
    for command in waiting {
      switch command {
      case .noteAge(person, let content): state.note(content)
      case .setAge(person, let content, _): state.set(content)
      default: break
      }
    }
    return state
  }

  /// The same with their ids, which their lines will carry.
  public var waitingByID: [(id: CommandID, command: Command)] {
    outbox.pending.map { ($0.id, $0.command) }
  }

  var deadline: Instant? {
    ([due, outbox.deadline, mayShare ? newcomersDue : nil] + fetching.values.map(\.due))
      .compactMap { $0 }.min()
  }

  func delivered(_ audience: Audience) -> UInt64 { cursors[audience]?.delivered ?? 0 }
}
