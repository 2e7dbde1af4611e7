import FamilyModel

/// The kinds of commands. The compiler asks for a case, and for values, when a kind is added.
enum CommandKind: CaseIterable {
  case setRoster, setAccount, setLimits, ask, remind, cancel, answer, post, changeContact
  case setPasscode, answerInPerson, withdraw, addChild, invite, noteAge, setAge, shareKeys, complain
  case beat, opaque, changeSettings

  init(_ command: Command) {
    self =
      switch command {
      case .setRoster: .setRoster
      case .setAccount: .setAccount
      case .setLimits: .setLimits
      case .ask: .ask
      case .remind: .remind
      case .cancel: .cancel
      case .answer: .answer
      case .post: .post
      case .changeContact: .changeContact
      case .setPasscode: .setPasscode
      case .answerInPerson: .answerInPerson
      case .withdraw: .withdraw
      case .addChild: .addChild
      case .invite: .invite
      case .noteAge: .noteAge
      case .setAge: .setAge
      case .shareKeys: .shareKeys
      case .complain: .complain
      case .beat: .beat
      case .opaque: .opaque
      case .changeSettings: .changeSettings
      }
  }
}

/// The family as a maker of commands knows it.
struct FuzzScene {
  var now: Instant
  var roster: Roster
  /// The ids of questions that exist.
  var questions: [QuestionID] = []
  /// The names of content keys that exist.
  var keys: [ContentKeyID] = []

  /// A command of this kind with an open content. Its values may be invalid.
  func make(_ kind: CommandKind, _ input: inout Bytes) -> Command {
    let person = input.person()
    return switch kind {
    case .setRoster: .setRoster(input.roster(like: roster))
    case .setAccount: .setAccount(person, content(.account, &input))
    case .setLimits: .setLimits(child: person, on: input.byte() & 1 == 1)
    case .ask: ask(person, &input)
    case .remind: .remind(question(&input))
    case .cancel: .cancel(question(&input))
    case .answer: .answer(question(&input), choice: input.choiceID())
    case .post: .post(child: person, content(.text, &input))
    case .changeContact:
      .changeContact(
        child: person, content(input.isRare(2) ? .contact : .contactName, &input))
    case .setPasscode: .setPasscode(input.passcode())
    case .answerInPerson: answerInPerson(person, &input)
    case .withdraw: .withdraw(child: person, content(.withdrawal, &input))
    case .addChild: .addChild(displayName: input.text(Limits.titleBytes))
    case .invite:
      .invite(Invitation(key: input.key(), person: person, expires: input.instant(now)))
    case .noteAge: .noteAge(person, content(input.isRare(2) ? .apps : .ageMemory, &input))
    case .setAge:
      .setAge(
        person, content(input.isRare(2) ? .ageMemory : .ageSettings, &input),
        proof: input.isRare(2) ? input.proof() : [])
    case .changeSettings:
      .changeSettings(
        person, content(input.isRare(4) ? .communicationSafety : .webRules, &input),
        proof: input.isRare(2) ? input.proof() : [])
    case .shareKeys: .shareKeys(input.audience(), input.array(Limits.keyWraps) { wrap(&$0) })
    case .complain: .complain(input.audience(), input.array(Limits.complaintKeys) { name(&$0) })
    case .beat: .beat
    case .opaque:
      .opaque(
        input.audience(),
        OpaqueBody(
          kind: 999 + UInt32(input.pick(4)),
          bytes: Array(repeating: input.byte(), count: input.pick(99))
        ))
    }
  }

  /// A content of the expected kind, or of another one.
  private func content(_ kind: ContentKind, _ input: inout Bytes) -> Content {
    (input.isRare(8) ? input.any(ContentKind.allCases) : kind).make(&input, now: now)
  }

  private func question(_ input: inout Bytes) -> QuestionID {
    questions.isEmpty || input.isRare(4)
      ? ID128(high: 2, low: UInt64(input.pick(8))) : input.any(questions)
  }

  private func name(_ input: inout Bytes) -> ContentKeyID {
    keys.isEmpty || input.isRare(4)
      ? ID128(high: input.edge(), low: UInt64(input.byte())) : input.any(keys.suffix(256))
  }

  private func wrap(_ input: inout Bytes) -> KeyWrap {
    KeyWrap(
      key: name(&input), reader: input.key(),
      bytes: Array(repeating: input.byte(), count: input.isRare(4) ? Limits.keyWrapBytes + 1 : 80))
  }

  private func ask(_ child: PersonID, _ input: inout Bytes) -> Command {
    let content = content(.question, &input)
    return .ask(header(of: content, child, &input), content)
  }

  private func answerInPerson(_ child: PersonID, _ input: inout Bytes) -> Command {
    let content = content(.question, &input)
    return .answerInPerson(
      header(of: content, child, &input), content, choice: input.choiceID(), proof: input.proof())
  }

  /// The header that fits the question, or another one.
  private func header(of content: Content, _ child: PersonID, _ input: inout Bytes)
    -> QuestionHeader
  {
    let known = if case .question(let question) = content { question } else { input.question(now) }
    let question = input.isRare(8) ? input.question(now) : known
    return QuestionHeader(
      id: question.id, child: child, app: input.app(),
      subjects: Array(repeating: input.byte(), count: input.isRare(16) ? 65 : input.pick(3)),
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: question.expiration)
  }
}

extension Bytes {
  mutating func choiceID() -> String {
    any(["approve", "decline", "", "e\u{301}", text(Limits.identifierBytes)])
  }

  mutating func passcode() -> Passcode {
    Passcode(
      salt: Array(repeating: byte(), count: isRare(8) ? pick(256) : 16),
      logCost: isRare(4) ? byte() : 4, publicKey: key(),
      relayKey: Array(repeating: isRare(4) ? byte() : 254, count: isRare(8) ? pick(64) : 32))
  }

  /// The roster with changes: less or more members and devices, other numbers, roles, names and keys.
  mutating func roster(like known: Roster) -> Roster {
    var roster = known
    for _ in 0..<pick(4) {
      let index = Int(byte())
      switch pick(8) {
      case 0: if !roster.devices.isEmpty { roster.devices.remove(at: index % roster.devices.count) }
      case 1: if !roster.persons.isEmpty { roster.persons.remove(at: index % roster.persons.count) }
      case 2, 3: change(&roster, index)
      case 4: roster.persons += array(Limits.persons) { $0.newPerson() }
      case 5: roster.devices += array(Limits.devices) { $0.newDevice() }
      case 6: roster.persons.append(newPerson())
      default: roster.devices.append(newDevice())
      }
    }
    return Roster(persons: roster.persons, devices: roster.devices)
  }

  private mutating func change(_ roster: inout Roster, _ index: Int) {
    guard !roster.devices.isEmpty, !roster.persons.isEmpty else { return }
    let (device, person) = (index % roster.devices.count, index % roster.persons.count)
    switch pick(6) {
    case 0: roster.devices[device].publicKey = key()
    case 1: roster.devices[device].signingKey = isRare(2) ? [] : key()
    case 2: roster.devices[device].agreementKey = isRare(2) ? [] : key()
    case 3: roster.devices[device].person = self.person()
    case 4: roster.persons[person].role = any([.organizer, .guardian, .child, .adult])
    default: roster.persons[person].displayName = text(Limits.titleBytes)
    }
  }

  private mutating func newPerson() -> Person {
    Person(
      id: PersonID(UInt32(truncatingIfNeeded: edge())),
      role: any([.child, .adult, .guardian, .organizer]), displayName: text(Limits.titleBytes))
  }

  private mutating func newDevice() -> Device {
    Device(
      id: DeviceID(UInt32(truncatingIfNeeded: edge())), person: person(), publicKey: key(),
      signingKey: isRare(4) ? [] : key(), agreementKey: isRare(4) ? [] : key())
  }
}
