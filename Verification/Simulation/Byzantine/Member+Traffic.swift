import FamilyCore
import FamilyModel
import RelayWire

/// Copies of earlier commands, foreign reads, cursors, and floods.
extension World {
  /// Sends an earlier command of the member again, or a command of another device as its own.
  func copy(_ identity: Identity) {
    let member = member!
    if member.random.chance(50), !member.sent.isEmpty {
      let (envelope, identity) = member.random.pick(member.sent)
      return post(envelope, identity)
    }
    let others = member.events.filter {
      $0.device != identity.address.device && $0.signature != nil
    }
    guard !others.isEmpty else { return }
    let event = member.random.pick(others)
    guard let command = Command(event) else { return }
    let author = DeviceAddress(family: member.family, device: event.device)
    send(
      .command(event.command, command, event.signature), as: identity,
      member.random.chance(50) ? author : nil)
  }

  func readForeign(_ identity: Identity) {
    let member = member!
    var address = identity.address
    if member.random.chance(20) {
      address.family = FamilyID(UInt64(1 + member.random.below(scenario.families + 1)))
    }
    let audience = Audience(
      rawValue: UInt64(member.random.below(4)) << 32 | UInt64(member.random.below(8)))
    send(
      .fetch(audience, after: member.random.pick([0, 1, .max])), as: identity, address)
  }

  func moveCursors(_ identity: Identity) {
    let member = member!
    let cursors = (0..<(1 + member.random.below(4))).map { _ in
      let seq = member.random.pick([0, 1, 1_000_000, UInt64.max])
      return Cursor(drawAudience(identity), delivered: seq, read: member.random.pick([0, seq]))
    }
    send(
      member.random.chance(50) ? .acknowledge(cursors) : .attach(cursors), as: identity)
    if member.random.chance(20) {
      let others = member.roster.devices.map {
        DeviceAddress(family: member.family, device: $0.id)
      }
      send(.present(others), as: identity)
    }
  }

  /// Sends as much as the member's budget permits, and more.
  func flood(_ identity: Identity) {
    let member = member!
    switch member.random.below(4) {
    case 0: for _ in 0..<200 { send(.ping, as: identity) }
    case 1: for _ in 0..<60 { send(.fetch(.family, after: 0), as: identity) }
    case 2:
      // Each complaint costs as much as many other requests.
      let audience = drawAudience(identity)
      for number in 0..<280 {
        submit(
          .complain(audience, [ContentKeyID(high: 11, low: UInt64(number))]), identity)
      }
    default:
      let child = drawChild(identity)
      for _ in 0..<40 { submit(.post(child: child, .text("flood")), identity) }
    }
  }
}

extension Command {
  /// The command that produced the event; `nil` for events without a command of a member.
  init?(_ event: Event) {
    switch event.body {
    case .rosterChanged(let roster): self = .setRoster(roster)
    case .limitsChanged(let child, let on): self = .setLimits(child: child, on: on)
    case .accountChanged(let person, let content): self = .setAccount(person, content)
    case .asked(let header, let content): self = .ask(header, content)
    case .reminded(let id): self = .remind(id)
    case .cancelled(let id): self = .cancel(id)
    case .decided(let decision):
      self = .answer(decision.question, choice: decision.choice.id)
    case .posted(let child, let content): self = .post(child: child, content)
    case .contactChanged(let child, let content): self = .changeContact(child: child, content)
    case .passcodeChanged(let passcode): self = .setPasscode(passcode)
    case .answeredInPerson(let header, let content, let decision, let proof):
      self = .answerInPerson(header, content, choice: decision.choice.id, proof: proof)
    case .withdrawn(let child, let content): self = .withdraw(child: child, content)
    case .keysShared(let wraps): self = .shareKeys(event.audience, wraps)
    case .invited(let invitation): self = .invite(invitation)
    case .ageNoted(let person, let content): self = .noteAge(person, content)
    case .ageSet(let person, let content, let proof):
      self = .setAge(person, content, proof: proof)
    case .settingsChanged(let child, let content, let proof):
      self = .changeSettings(child, content, proof: proof)
    case .complained(let names): self = .complain(event.audience, names)
    case .beat: self = .beat
    case .opaque(let body): self = .opaque(event.audience, body)
    case .joinRequested: return nil
    }
  }
}
