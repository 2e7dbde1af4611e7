import FamilyModel

/// The statements that this device has signed and that are in force, for a relay that loses them.
///
/// A statement is *stored* → (the relay shows a history without its event) *lost* → (its event is
/// read again) *stored*. A later statement of this device about the same subject replaces it.
struct OwnStatements: Sendable {
  struct Entry: Sendable {
    /// A command. The commands of a snapshot stay packed until the device needs them.
    enum Form: Sendable {
      case command(Command)
      case packed([UInt8])

      func command(_ coding: (any RecordCoding)?) -> Command? {
        switch self {
        case .command(let command): command
        case .packed(let bytes): coding?.command(bytes)
        }
      }

      func bytes(_ coding: (any RecordCoding)?) -> [UInt8] {
        switch self {
        case .command(let command): coding?.bytes(of: command) ?? []
        case .packed(let bytes): bytes
        }
      }
    }
    var id: CommandID
    var audience: Audience
    var form: Form
    /// The position of the event; `nil` for a lost statement.
    var seq: UInt64?
    /// The place in the order of the statements.
    var order: UInt64
    var takesPermission: Bool
  }

  /// A statement that the relay has lost.
  struct Lost: Sendable {
    var id: CommandID
    var command: Command
  }

  /// The subject of a statement. Texts, keys and notes have none: each counts.
  enum Subject: Hashable {
    case limits(PersonID)
    case account(PersonID)
    case contact(PersonID, Handle)
    case contactName(PersonID, Handle)
    case handle(PersonID, Handle, AppID?)
    case consent(PersonID, AppID)
    case question(QuestionID)
    case answer(QuestionID)
    case passcode
    case invitation([UInt8])
    case apps(PersonID)
    case ageSettings(PersonID)
    case ageMemory(PersonID, AppID)
    case webRules(PersonID)
    case communicationSafety(PersonID)
    case webUseDeletion(PersonID, Site?)
  }

  var entries: [CommandID: Entry] = [:]
  var newest: [Subject: CommandID] = [:]
  var next: UInt64 = 0
  /// The encoding of the packed commands.
  var coding: (any RecordCoding)?

  /// Records a verified event of this device with its content open.
  mutating func add(_ event: Event) {
    guard let command = event.body.statement(in: event.audience) else { return }
    next += 1
    if let subject = Self.subject(of: event.body) {
      if let former = newest[subject] { entries[former] = nil }
      newest[subject] = event.command
    }
    entries[event.command] = Entry(
      id: event.command, audience: event.audience, form: .command(command), seq: event.seq,
      order: next, takesPermission: command.takesPermission)
    if entries.count > Limits.ownStatements { shorten() }
  }

  /// Records the present position of a statement that this device reads again.
  mutating func found(_ id: CommandID, at seq: UInt64) { entries[id]?.seq = seq }

  /// Marks a statement as lost.
  mutating func lose(_ id: CommandID) { entries[id]?.seq = nil }

  /// The audience of a statement; `nil` for an unknown one.
  func audience(of id: CommandID) -> Audience? { entries[id]?.audience }

  /// Forgets a statement that the relay refused, or that is no longer in force.
  mutating func remove(_ id: CommandID) { entries[id] = nil }

  /// Marks the statements after a position as lost.
  ///
  /// - Returns: The lost statements of the audience in order. Above ``Limits/statementsGivenBack``,
  ///   those that take a permission are preferred, and then the newest.
  mutating func lose(_ audience: Audience, after seq: UInt64) -> [Lost] {
    var lost = entries.values.filter { $0.audience == audience && $0.seq.map { $0 > seq } ?? true }
    for entry in lost { entries[entry.id]!.seq = nil }
    if lost.count > Limits.statementsGivenBack {
      lost.sort(by: Self.matters)
      lost.removeLast(lost.count - Limits.statementsGivenBack)
    }
    return lost.sorted { $0.order < $1.order }.compactMap { entry in
      entry.form.command(coding).map { Lost(id: entry.id, command: $0) }
    }
  }

  /// Whether each command can be read again after it was packed. A device whose commands cannot makes no
  /// snapshot.
  func canPack(_ coding: any RecordCoding) -> Bool {
    entries.values.allSatisfy { entry in
      guard case .command(let command) = entry.form else { return true }
      return coding.command(coding.bytes(of: command)) != nil
    }
  }

  /// Forgets the least important quarter.
  private mutating func shorten() {
    let all = entries.values.sorted(by: Self.matters)
    for entry in all.suffix(all.count / 4) { entries[entry.id] = nil }
    newest = newest.filter { entries[$0.value] != nil }
  }

  /// Whether the first statement matters more.
  private static func matters(_ one: Entry, _ other: Entry) -> Bool {
    one.takesPermission == other.takesPermission
      ? one.order > other.order : one.takesPermission
  }

  static func subject(of body: Event.Body) -> Subject? {
    switch body {
    case .limitsChanged(let child, _): .limits(child)
    case .accountChanged(let person, _): .account(person)
    case .asked(let header, _): .question(header.id)
    // A cancelled question is not asked again.
    case .cancelled(let id): .question(id)
    case .decided(let decision): .answer(decision.question)
    case .contactChanged(let child, .contact(let handle, _)): .contact(child, handle.canonical)
    case .contactChanged(let child, .contactName(let handle, _)):
      .contactName(child, handle.canonical)
    case .withdrawn(let child, .withdrawal(let what)):
      switch what {
      case .handle(let handle, let app): .handle(child, handle.canonical, app)
      case .consent(let app), .consentGiven(let app): .consent(child, app)
      }
    case .passcodeChanged: .passcode
    case .invited(let invitation): .invitation(invitation.key)
    case .ageNoted(let person, .apps): .apps(person)
    case .ageSet(let person, .ageSettings, _): .ageSettings(person)
    case .ageSet(let person, .ageMemory(let app, _), _): .ageMemory(person, app)
    case .settingsChanged(let child, .webRules, _): .webRules(child)
    case .settingsChanged(let child, .communicationSafety, _): .communicationSafety(child)
    case .settingsChanged(let child, .webUseDeleted(let site), _): .webUseDeletion(child, site)
    default: nil
    }
  }
}

extension Event.Body {
  /// The command that states the same again; `nil` if no device may, or need, repeat it.
  ///
  /// Rosters are rebuilt from the present one. A proof of the passcode is valid for minutes only.
  fileprivate func statement(in audience: Audience) -> Command? {
    switch self {
    case .limitsChanged(let child, let on): .setLimits(child: child, on: on)
    case .accountChanged(let person, let content): .setAccount(person, content)
    case .asked(let header, let content): .ask(header, content)
    case .cancelled(let id): .cancel(id)
    case .decided(let decision): .answer(decision.question, choice: decision.choice.id)
    case .posted(let child, let content): .post(child: child, content)
    case .contactChanged(let child, let content): .changeContact(child: child, content)
    case .passcodeChanged(let passcode): .setPasscode(passcode)
    case .withdrawn(let child, let content): .withdraw(child: child, content)
    case .invited(let invitation): .invite(invitation)
    // Guardians keep the reports.
    case .ageNoted(_, .webUse): nil
    case .ageNoted(let person, let content): .noteAge(person, content)
    case .ageSet(let person, let content, let proof) where proof.isEmpty:
      .setAge(person, content, proof: [])
    case .settingsChanged(let child, let content, let proof) where proof.isEmpty:
      .changeSettings(child, content, proof: [])
    case .keysShared(let wraps): .shareKeys(audience, wraps)
    case .rosterChanged, .reminded, .answeredInPerson, .joinRequested, .ageSet, .settingsChanged,
      .complained, .beat, .opaque:
      nil
    }
  }

  /// Whether the event, with its content open, takes a permission.
  var takesPermission: Bool {
    switch self {
    case .limitsChanged(_, let on): on
    case .contactChanged(_, let content), .withdrawn(_, let content): content.takesPermission
    default: false
    }
  }
}

extension Command {
  /// Whether the command, with its content open, takes a permission.
  fileprivate var takesPermission: Bool {
    switch self {
    case .setLimits(_, let on): on
    case .changeContact(_, let content), .withdraw(_, let content): content.takesPermission
    default: false
    }
  }
}

extension Content {
  /// Whether the open contact or withdrawal takes a permission.
  fileprivate var takesPermission: Bool {
    switch self {
    case .contact(_, let isKnown): !isKnown
    case .withdrawal(.consentGiven): false
    case .withdrawal: true
    default: false
    }
  }
}
