import FamilyCore
import FamilyModel
import RelayWire

/// Rosters of every sort, invitations, and requests to join.
extension World {
  func attackRoster(_ identity: Identity) {
    let member = member!
    var roster = member.roster
    for _ in 0..<(1 + member.random.below(2)) { change(&roster, identity) }
    submit(.setRoster(Roster(persons: roster.persons, devices: roster.devices)), identity)
  }

  private func change(_ roster: inout Roster, _ identity: Identity) {
    let member = member!
    guard !roster.devices.isEmpty, !roster.persons.isEmpty else { return }
    switch member.random.below(15) {
    case 0, 1, 2: plant(&roster)
    case 3: addWeakDevice(&roster)
    case 4: copyKeys(&roster)
    case 5: renumber(&roster)
    case 6:
      let device = member.random.pick(roster.devices)
      roster.devices.removeAll { $0.id == device.id }
    case 7:
      let person = member.random.pick(roster.persons)
      roster.persons.removeAll { $0.id == person.id }
      if member.random.chance(80) { roster.devices.removeAll { $0.person == person.id } }
    case 8:
      let index = member.random.below(roster.persons.count)
      roster.persons[index].role = member.random.pick([.organizer, .guardian, .child, .adult])
    case 9, 10: restore(&roster)
    case 11:
      let isAll = member.random.chance(20)
      let chosen = member.random.below(roster.devices.count)
      for index in roster.devices.indices where isAll || index == chosen {
        roster.devices[index].signingKey = []
      }
    case 12:
      let index = member.random.below(roster.devices.count)
      let plant = member.makePlant(keys)
      roster.devices[index].agreementKey = plant.vault.agreementKey
      if member.random.chance(40) { roster.devices[index].signingKey = plant.vault.signingKey }
    case 13:
      let index = member.random.below(roster.persons.count)
      roster.persons[index].displayName = member.random.pick([
        "", "Renamed", String(repeating: "n", count: 300), "\u{0}\u{202E}",
      ])
    default: crowd(&roster)
    }
  }

  /// Adds a device with keys of the member, in the name of any person.
  private func plant(_ roster: inout Roster) {
    let member = member!
    var plant = member.makePlant(keys)
    if member.random.chance(50) {
      let planned = scenario.devices.map(\.id.rawValue).max() ?? 0
      let next = max(planned, roster.devices.map(\.id.rawValue).max() ?? 0)
      plant.address.device = DeviceID(next &+ 1)
    }
    member.planted.append(plant)
    roster.devices.append(entry(plant, of: drawPerson()))
  }

  private func entry(_ plant: Identity, of person: PersonID) -> Device {
    Device(
      id: plant.address.device, person: person, publicKey: plant.key,
      signingKey: plant.vault.signingKey, agreementKey: plant.vault.agreementKey)
  }

  private func addWeakDevice(_ roster: inout Roster) {
    let weak = [1] + Array(repeating: UInt8(0), count: 31)
    var device = entry(member!.makePlant(keys), of: drawPerson())
    switch member!.random.below(4) {
    case 0: device.publicKey = weak
    case 1: device.signingKey = weak
    case 2: device.agreementKey = Array(repeating: 0, count: 32)
    default: device.agreementKey = [1, 2, 3]
    }
    roster.devices.append(device)
  }

  /// Adds a device with keys of another one.
  private func copyKeys(_ roster: inout Roster) {
    var device = entry(member!.makePlant(keys), of: drawPerson())
    let other = member!.random.pick(roster.devices)
    switch member!.random.below(3) {
    case 0: device.publicKey = other.publicKey
    case 1: device.signingKey = other.signingKey
    default: device.agreementKey = other.agreementKey
    }
    roster.devices.append(device)
  }

  private func renumber(_ roster: inout Roster) {
    let number = member!.random.pick([UInt32(1) << 31, (1 << 31) - 1, .max, 70_000, 0])
    switch member!.random.below(3) {
    case 0:
      let index = member!.random.below(roster.persons.count)
      let old = roster.persons[index].id
      roster.persons[index].id = PersonID(number)
      guard member!.random.chance(70) else { return }
      for index in roster.devices.indices where roster.devices[index].person == old {
        roster.devices[index].person = PersonID(number)
      }
    case 1:
      let index = member!.random.below(roster.devices.count)
      roster.devices[index].id = DeviceID(number)
    default:
      roster.persons.append(
        Person(id: PersonID(number), role: .child, displayName: "Number \(number)"))
    }
  }

  /// Brings back a former roster, or a device of it.
  private func restore(_ roster: inout Roster) {
    let former = member!.events.compactMap { event -> Roster? in
      if case .rosterChanged(let roster) = event.body { roster } else { nil }
    }
    guard !former.isEmpty else { return }
    let old = member!.random.pick(former)
    if member!.random.chance(30) {
      roster = old
    } else {
      let gone = old.devices.filter { device in
        !roster.devices.contains { $0.signingKey == device.signingKey }
      }
      guard !gone.isEmpty else { return }
      var device = member!.random.pick(gone)
      if roster.device(device.id) != nil { device.id = DeviceID(80_000) }
      if roster.person(device.person) == nil { device.person = drawPerson() }
      roster.devices.append(device)
    }
  }

  /// Adds more persons or devices than a family may have, or a few less.
  private func crowd(_ roster: inout Roster) {
    let count = member!.random.pick([3, 40, 300])
    if member!.random.chance(50) {
      for number in 0..<count {
        roster.persons.append(
          Person(id: PersonID(500 + UInt32(number)), role: .adult, displayName: "Crowd"))
      }
    } else {
      for _ in 0..<min(count, 40) {
        roster.devices.append(entry(member!.makePlant(keys), of: drawPerson()))
      }
    }
  }

  // MARK: invitations

  func invite(_ identity: Identity) {
    let plant = member!.makePlant(keys)
    let isWeak = member!.random.chance(15)
    if !isWeak { member!.invited.append(plant) }
    let times: [Milliseconds] = [.hours(1), .hours(23), .hours(30), .zero, -.hours(1)]
    submit(
      .invite(
        Invitation(
          key: isWeak ? [1] + Array(repeating: 0, count: 31) : plant.vault.signingKey,
          person: drawPerson(), expires: clock(relay.clock) + member!.random.pick(times))),
      identity)
  }

  /// A device of the member asks to join, with an invitation of its own.
  func join(_ identity: Identity) {
    let member = member!
    guard !member.invited.isEmpty else { return invite(identity) }
    let invitation = member.random.pick(member.invited)
    let plant = member.makePlant(keys)
    var join = JoinRequest(
      invitation: invitation.vault.signingKey, publicKey: plant.key,
      signingKey: plant.vault.signingKey, agreementKey: plant.vault.agreementKey)
    if member.random.chance(20) { join.agreementKey = Array(repeating: 0, count: 32) }
    join.proof = invitation.vault.sign(join.signedBytes(family: member.family))
    if member.random.chance(15) { join.proof = Array(repeating: 1, count: 64) }
    send(
      .join(join), as: plant, DeviceAddress(family: member.family, device: DeviceID(0)))
  }
}
