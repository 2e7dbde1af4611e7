public import FamilyModel

/// A short digest of the parts of a command that all of its transmissions share: the kind, and the
/// values that are neither sealed nor chosen at the transmission.
///
/// A device seals and signs a command again for each transmission, so two transmissions of one
/// command differ in all other bytes. A command with a known id and another outline is no repetition.
public struct CommandOutline: Hashable, Sendable {
  /// The digest.
  private(set) var value: UInt16

  /// The outline with this digest.
  init(value: UInt16) { self.value = value }

  /// The outline of the command.
  public init(_ command: Command) {
    var digest = Digest()
    switch command {
    case .setRoster, .addChild: digest.add(1)
    case .setAccount(let person, _): digest.add(2, person)
    case .setLimits(let child, let on): digest.add(3, child, on ? 1 : 0)
    case .ask(let header, _): digest.add(4, header.id)
    case .remind(let id): digest.add(5, id)
    case .cancel(let id): digest.add(6, id)
    case .answer(let id, let choice): digest.add(7, id, choice)
    case .post(let child, _): digest.add(8, child)
    case .changeContact(let child, _): digest.add(9, child)
    case .setPasscode(let passcode): digest.add(10, passcode.publicKey)
    case .answerInPerson(let header, _, let choice, _): digest.add(11, header.id, choice)
    case .withdraw(let child, _): digest.add(12, child)
    case .invite(let invitation): digest.add(13, invitation.key)
    case .noteAge(let person, _): digest.add(14, person)
    case .setAge(let person, _, _): digest.add(15, person)
    case .shareKeys(let audience, _): digest.add(16, audience.rawValue)
    case .complain(let audience, _): digest.add(18, audience.rawValue)
    case .beat: digest.add(19)
    case .opaque(let audience, let body): digest.add(20, audience, body)
    case .changeSettings(let person, _, _): digest.add(21, person)
    }
    value = digest.value
  }

  /// The outline of the command that produced the event.
  public init(_ event: Event) {
    var digest = Digest()
    switch event.body {
    case .rosterChanged: digest.add(1)
    case .accountChanged(let person, _): digest.add(2, person)
    case .limitsChanged(let child, let on): digest.add(3, child, on ? 1 : 0)
    case .asked(let header, _): digest.add(4, header.id)
    case .reminded(let id): digest.add(5, id)
    case .cancelled(let id): digest.add(6, id)
    case .decided(let decision): digest.add(7, decision.question, decision.choice.id)
    case .posted(let child, _): digest.add(8, child)
    case .contactChanged(let child, _): digest.add(9, child)
    case .passcodeChanged(let passcode): digest.add(10, passcode.publicKey)
    case .answeredInPerson(let header, _, let decision, _):
      digest.add(11, header.id, decision.choice.id)
    case .withdrawn(let child, _): digest.add(12, child)
    case .invited(let invitation): digest.add(13, invitation.key)
    case .ageNoted(let person, _): digest.add(14, person)
    case .ageSet(let person, _, _): digest.add(15, person)
    case .keysShared: digest.add(16, event.audience.rawValue)
    case .joinRequested: digest.add(17)
    case .complained: digest.add(18, event.audience.rawValue)
    case .beat: digest.add(19)
    case .opaque(let body): digest.add(20, event.audience, body)
    case .settingsChanged(let person, _, _): digest.add(21, person)
    }
    value = digest.value
  }
}

/// A hash of words, folded to 16 bits. Only a device itself could profit from a collision with an own
/// command.
private struct Digest {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  var value: UInt16 { UInt16(truncatingIfNeeded: state >> 48) }

  mutating func add(_ number: UInt64) {
    state = (state ^ number) &* 0x9E37_79B9_7F4A_7C15
    state ^= state >> 29
  }

  mutating func add(_ kind: UInt64, _ value: UInt64) {
    add(kind)
    add(value)
  }

  mutating func add(_ kind: UInt64, _ person: PersonID, _ value: UInt64 = 0) {
    add(kind, UInt64(person.rawValue))
    add(value)
  }

  mutating func add(_ kind: UInt64, _ id: QuestionID, _ choice: String = "") {
    add(kind, id.high)
    add(id.low)
    for byte in choice.utf8 { add(UInt64(byte)) }
  }

  mutating func add(_ kind: UInt64, _ audience: Audience, _ body: OpaqueBody) {
    add(kind, audience.rawValue)
    add(UInt64(body.kind))
  }

  mutating func add(_ kind: UInt64, _ bytes: [UInt8]) {
    add(kind)
    for byte in bytes { add(UInt64(byte)) }
  }
}

extension CommandOutline: Packable {
  func pack(_ packer: inout Packer) { packer.add(UInt64(value)) }
  init(_ packed: inout Unpacker) { value = UInt16(truncatingIfNeeded: packed.number()) }
}
