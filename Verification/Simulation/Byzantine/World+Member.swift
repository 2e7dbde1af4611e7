import FamilyCore
import FamilyModel
import History
import RelayWire

/// The dishonest member's connection to the rest of the run.
extension World {
  /// A reply to a request of the member, which its honest machine never sees.
  ///
  /// - Returns: Whether the reply was for the member.
  func memberReceives(_ index: Int, _ id: UInt64, _ reply: Reply) -> Bool {
    guard let member, member.index == index, id != .max, id > DishonestMember.firstRequest else {
      return false
    }
    switch reply {
    case .page(let audience, let events, _):
      // Another family's events count as read by a device that is in no roster.
      var address = member.addresses[id] ?? member.own.address
      if address.family != member.family { address.device = DeviceID(1 << 22) }
      for event in events { record(.received(address, audience, seq: event.seq)) }
    default: break
    }
    return true
  }

  /// Counts the relay's evaluation of a guess of the member against the limit of the family. The link
  /// may repeat the reply. The relay does not count a guess that equals the one before it.
  func recordGuess(_ id: UInt64, by device: Int) {
    guard let member, member.index == device, member.guesses.last?.request != id,
      member.isGuess(id)
    else { return }
    let time = clock(relay.clock)
    member.guesses.append((time, id))
    let minute = member.guesses.filter { $0.at > time - .seconds(50) && $0.at <= time }
    let log = relay.disk.intactEvents(of: member.family)
    let isReset = log.contains { stored in
      guard stored.at > time - .seconds(70) else { return false }
      switch try! Event.decode(stored.payload).body {
      case .passcodeChanged, .answeredInPerson, .ageSet, .settingsChanged: return true
      default: return false
      }
    }
    if minute.count > Limits.passcodeGuesses, !isReset {
      record(.breach("the relay evaluated \(minute.count) guesses of the passcode"))
    }
  }

  /// Records refusals for which only the floods of the member can be the reason.
  ///
  /// A guardian may remove devices, and the relay suspends one device that is to be removed. So one
  /// refused device of the family proves nothing.
  func recordShedding(_ index: Int, _ problem: Problem) {
    guard let member, member.index != index,
      problem.code == Problem.tooFast(retryAfter: .zero).code
    else { return }
    let isSecond = member.lastShed.map { last in
      last.device != index && last.at > now - .seconds(1)
        && devices[last.device].address.family == devices[index].address.family
    }
    let isOther = devices[index].address.family != member.family
    if isSecond ?? false, isOther || !scenario.devices[member.index].person.role.isGuardian {
      record(.breach("the member's requests used up the budget of another device"))
    }
    member.lastShed = (now, index)
  }

  /// A guardian removes the member's device, and all devices and persons that it planted.
  func expel(by index: Int, _ removed: Int, withPlants: Bool) {
    guard var roster = devices[index].guardian?.link.roster, !roster.devices.isEmpty else { return }
    let family = scenario.devices[removed].family
    let planned = devices.filter { $0.plan.family == family }
    roster.devices.removeAll { entry in
      entry.signingKey == devices[removed].vault.signingKey
        || withPlants && !planned.contains { $0.vault.signingKey == entry.signingKey }
    }
    if withPlants {
      roster.persons.removeAll { person in
        person.displayName != "New" && !planned.contains { $0.plan.person.id == person.id }
      }
      let persons = Set(roster.persons.map(\.id))
      roster.devices.removeAll { !persons.contains($0.person) }
    }
    guardian(index, .setRoster(roster))
  }
}
