public import FamilyModel

/// How guardians change who is in the family, and with which devices. Numbers are not given anew: what
/// somebody who left has said stays theirs.
extension DeviceLink {
  /// The family with one more member.
  public func roster(adding name: String, as role: Role) -> Roster {
    var roster = roster
    let id = PersonID(lastPerson.rawValue + 1)
    roster.persons.append(Person(id: id, role: role, displayName: name))
    return roster
  }

  /// The family with the device that asked to join as this person's.
  public func roster(adding join: JoinRequest, of person: PersonID) -> Roster {
    var roster = roster
    let id = DeviceID((owners.keys.last?.rawValue ?? 0) + 1)
    roster.devices.append(
      Device(
        id: id, person: person, publicKey: join.publicKey, signingKey: join.signingKey,
        agreementKey: join.agreementKey))
    return roster
  }

  /// The family without the device: it is out as soon as the relay has this.
  public func roster(removing device: DeviceID) -> Roster {
    var roster = roster
    roster.devices.removeAll { $0.id == device }
    return roster
  }

  /// The family without the member, and without the member's devices.
  public func roster(removing person: PersonID) -> Roster {
    var roster = roster
    roster.persons.removeAll { $0.id == person }
    roster.devices.removeAll { $0.person == person }
    return roster
  }
}
