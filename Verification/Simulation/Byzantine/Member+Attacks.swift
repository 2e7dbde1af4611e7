import FamilyCore
import FamilyModel

/// A kind of dishonest act.
enum MemberAttack: CaseIterable {
  case roster, invitation, join, passcode, guess
  case question, inPerson, answer, reminder
  case withdrawal, contact, limits, post, account, ages
  case badShare, badAnswerToComplaint, plantedKey, manyKeys, complaint
  case copy, foreignReads, cursors, flood

  /// The acts that a relay accepts of a child, besides those of every member.
  static let children: [Self] = [
    .question, .question, .question, .inPerson, .inPerson, .reminder, .guess, .post, .ages,
  ]
  /// The acts that a relay accepts of a guardian, besides those of every member.
  static let guardians: [Self] = [
    .roster, .roster, .roster, .roster, .invitation, .join, .passcode, .answer, .answer, .answer,
    .withdrawal, .contact, .contact, .limits, .post, .account, .ages,
  ]
  /// The acts of every member.
  static let members: [Self] = [
    .badShare, .badShare, .badAnswerToComplaint, .plantedKey, .plantedKey, .manyKeys, .complaint,
    .account, .ages, .copy, .copy, .foreignReads, .cursors, .flood,
  ]
}

/// The acts of the dishonest member.
extension World {
  func attack(_ index: Int, _ seed: UInt64) {
    guard let member, member.index == index, devices[index].isConnected else { return }
    member.random = SeededRandom(seed: seed)
    member.read(relay.disk.intactEvents(of: member.family))
    guard !member.events.isEmpty else { return }
    for _ in 0..<(1 + member.random.below(3)) { attackOnce(member) }
  }

  private func attackOnce(_ member: DishonestMember) {
    let present = member.planted.filter {
      member.roster.device($0.address.device)?.publicKey == $0.key
    }
    let identity =
      !present.isEmpty && member.random.chance(35) ? member.random.pick(present) : member.own
    let role = member.person(of: identity)?.role ?? scenario.devices[member.index].person.role
    let attack: MemberAttack =
      switch member.random.below(100) {
      case 0..<50:
        member.random.pick(
          role == .child
            ? MemberAttack.children
            : role.isGuardian ? MemberAttack.guardians : MemberAttack.members)
      case 50..<88: member.random.pick(MemberAttack.members)
      default: member.random.pick(MemberAttack.allCases)
      }
    perform(attack, identity)
  }

  private func perform(_ attack: MemberAttack, _ identity: Identity) {
    switch attack {
    case .roster: attackRoster(identity)
    case .invitation: invite(identity)
    case .join: join(identity)
    case .passcode: setPasscode(identity)
    case .guess: guess(identity)
    case .question: forgeQuestion(identity, inPerson: false)
    case .inPerson: forgeQuestion(identity, inPerson: true)
    case .answer: forgeAnswer(identity)
    case .reminder: forgeReminder(identity)
    case .withdrawal, .contact, .limits, .post, .account, .ages: state(attack, identity)
    case .badShare: shareBadly(identity)
    case .badAnswerToComplaint: answerComplaintBadly(identity)
    case .plantedKey: plantKey(identity)
    case .manyKeys: shareManyKeys(identity)
    case .complaint: complain(identity)
    case .copy: copy(identity)
    case .foreignReads: readForeign(identity)
    case .cursors: moveCursors(identity)
    case .flood: flood(identity)
    }
  }

  // MARK: draws

  func drawPerson() -> PersonID {
    let persons = member!.roster.persons.map(\.id)
    return member!.random.chance(95) && !persons.isEmpty
      ? member!.random.pick(persons)
      : PersonID(member!.random.pick([0, 99, 1 << 31, .max]))
  }

  func drawChild(_ identity: Identity) -> PersonID {
    let children = member!.roster.children.map(\.id)
    if let person = member!.person(of: identity), person.role == .child, member!.random.chance(80) {
      return person.id
    }
    return member!.random.chance(95) && !children.isEmpty
      ? member!.random.pick(children) : drawPerson()
  }

  func drawAudience(_ identity: Identity) -> Audience {
    let own = member!.person(of: identity).map { member!.roster.audiences(of: $0) } ?? []
    if !own.isEmpty, member!.random.chance(88) { return member!.random.pick(own) }
    let person = drawPerson()
    return member!.random.pick([
      .conversation(person), .account(person), .family, Audience(rawValue: member!.random.next()),
    ])
  }
}
